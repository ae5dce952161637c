# The Python package, laid out in build/python/rheos as it will be installed: the sources copied
# from python/rheos, and beside them the extension module rheos._core.

set(python_package "${CMAKE_BINARY_DIR}/python/rheos")

add_custom_target(python_sources ALL
  COMMAND ${CMAKE_COMMAND} "-DFROM=${PROJECT_SOURCE_DIR}/python/rheos" "-DTO=${python_package}"
          -P "${PROJECT_SOURCE_DIR}/cmake/sync_python.cmake"
  VERBATIM)

# The message types, which rheos.framework.messages makes classes of.
add_custom_command(
  OUTPUT "${python_package}/messages.bin"
  COMMAND "${PROTOC_C}" "--proto_path=${proto_root}" --include_imports
          "--descriptor_set_out=${python_package}/messages.bin" ${all_protos}
  DEPENDS ${proto_files} python_sources
  COMMENT "Describing the messages"
  VERBATIM)
add_custom_target(python_messages ALL DEPENDS "${python_package}/messages.bin")

file(GLOB python_extension_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/src/*.c")
if(python_extension_sources)
  add_library(python_core MODULE ${python_extension_sources})
  set_target_properties(python_core PROPERTIES
    PREFIX "" OUTPUT_NAME "_core" SUFFIX "${PYTHON_EXT_SUFFIX}"
    LIBRARY_OUTPUT_DIRECTORY "${python_package}")
  target_include_directories(python_core SYSTEM PRIVATE
    "${PYTHON_NUMPY_INCLUDE_DIR}" "${PYTHON_INCLUDE_DIR}")
  target_link_libraries(python_core PRIVATE rheos)
endif()

# Type stubs are made from the modules, each time the package is laid out. A library with sanitizers
# cannot be loaded just so.
if(TARGET python_core AND NOT RHEOS_SANITIZE)
  add_custom_target(python_stubs ALL
    COMMAND "${PYTHON_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tools/generate_stubs.py"
            "${CMAKE_BINARY_DIR}/python"
    DEPENDS python_sources python_core python_messages
    VERBATIM)
endif()
