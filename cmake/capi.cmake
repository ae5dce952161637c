# libtensorflow.so.2: TensorFlow's C interface over Rheos's, for programs of other languages. It lies aside,
# in a prefix of its own (build/libtensorflow, when installed lib/rheos/libtensorflow), so that it is in
# nobody's way who has TensorFlow. The library has all names itself; libtensorflow_framework.so.2 is there
# for who is linked with it.

set(capi_dir "${CMAKE_BINARY_DIR}/libtensorflow")
set(capi_map "${PROJECT_SOURCE_DIR}/cmake/capi.map")
file(GLOB capi_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/capi/*.c")
add_library(rheos_tensorflow SHARED ${capi_sources})
add_library(rheos_tensorflow_framework SHARED "${PROJECT_SOURCE_DIR}/capi/framework/framework.c")
foreach(library IN ITEMS rheos_tensorflow rheos_tensorflow_framework)
  set_target_properties(${library} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY "${capi_dir}/lib" VERSION 2.21.0 SOVERSION 2
    BUILD_RPATH_USE_ORIGIN ON)
endforeach()
set_target_properties(rheos_tensorflow PROPERTIES OUTPUT_NAME tensorflow LINK_DEPENDS "${capi_map}")
set_target_properties(rheos_tensorflow_framework PROPERTIES OUTPUT_NAME tensorflow_framework)
target_include_directories(rheos_tensorflow PUBLIC "${PROJECT_SOURCE_DIR}/capi/include")
target_link_libraries(rheos_tensorflow PRIVATE rheos Threads::Threads)
target_link_options(rheos_tensorflow PRIVATE "-Wl,--version-script=${capi_map}")
if(NOT RHEOS_SANITIZE)
  target_link_options(rheos_tensorflow PRIVATE -Wl,--no-undefined)
endif()
target_link_libraries(rheos_tensorflow_framework PRIVATE rheos_tensorflow)
target_link_options(rheos_tensorflow_framework PRIVATE -Wl,--no-as-needed)

# The prefix that programs are built with.
configure_file(cmake/tensorflow.pc.in "${capi_dir}/lib/pkgconfig/tensorflow.pc" @ONLY)
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/capi/include" "${capi_dir}/include" SYMBOLIC)
