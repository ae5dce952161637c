# The libraries Rheos stands on, each found by one header and one library. A target `rheos_deps`
# carries them all.

find_package(Threads REQUIRED)
add_library(rheos_deps INTERFACE)
target_link_libraries(rheos_deps INTERFACE Threads::Threads m ${CMAKE_DL_LIBS})
set(RHEOS_STATIC_LIBS "-lpthread -ldl -lm")  # what a program links that links statically

# rheos_find(NAME header library package): fails with the Debian package to install.
function(rheos_find name header library package)
  find_path(${name}_INCLUDE_DIR ${header})
  find_library(${name}_LIBRARY NAMES ${library})
  mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY)
  if(NOT ${name}_INCLUDE_DIR OR NOT ${name}_LIBRARY)
    message(FATAL_ERROR
      "${name} is missing (${header}, lib${library}): install ${package}, or run 'make deps'")
  endif()
  add_library(rheos_${name} INTERFACE)
  target_include_directories(rheos_${name} SYSTEM INTERFACE "${${name}_INCLUDE_DIR}")
  target_link_libraries(rheos_${name} INTERFACE "${${name}_LIBRARY}")
  set(RHEOS_STATIC_LIBS "-l${library} ${RHEOS_STATIC_LIBS}" PARENT_SCOPE)
endfunction()

rheos_find(protobuf_c protobuf-c/protobuf-c.h protobuf-c libprotobuf-c-dev)
rheos_find(snappy snappy-c.h snappy libsnappy-dev)
rheos_find(zlib zlib.h z zlib1g-dev)
rheos_find(pcre2 pcre2.h pcre2-8 libpcre2-dev)
target_link_libraries(rheos_deps INTERFACE rheos_protobuf_c rheos_snappy rheos_zlib rheos_pcre2)

if(RHEOS_WITH_ONEDNN)
  # gomp: oneDNN's threads, which src/device/cpu/onednn.c holds to one
  string(PREPEND RHEOS_STATIC_LIBS "-lgomp ")
  rheos_find(dnnl dnnl.h dnnl libdnnl-dev)
  target_link_libraries(rheos_deps INTERFACE rheos_dnnl gomp)
  target_compile_definitions(rheos_deps INTERFACE RHEOS_WITH_ONEDNN)
endif()
if(RHEOS_WITH_LAPACK)
  rheos_find(openblas cblas.h openblas libopenblas-dev)
  rheos_find(lapacke lapacke.h lapacke liblapacke-dev)
  target_link_libraries(rheos_deps INTERFACE rheos_lapacke rheos_openblas)
  target_compile_definitions(rheos_deps INTERFACE RHEOS_WITH_LAPACK)
endif()
if(RHEOS_WITH_IMAGES)
  rheos_find(jpeg jpeglib.h jpeg libjpeg62-turbo-dev)
  rheos_find(png png.h png libpng-dev)
  rheos_find(gif gif_lib.h gif libgif-dev)
  target_link_libraries(rheos_deps INTERFACE rheos_jpeg rheos_png rheos_gif)
  target_compile_definitions(rheos_deps INTERFACE RHEOS_WITH_IMAGES)
endif()

find_program(PROTOC_C NAMES protoc-c)
mark_as_advanced(PROTOC_C)
