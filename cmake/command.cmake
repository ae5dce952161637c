# The rheos command, a program as any other: it includes public headers and is linked with the shared
# library. Of messages that the interface does not speak of it has classes of its own. It finds library and
# Python launcher relative to itself, so that a built or an installed tree works wherever it lies.

file(GLOB command_sources CONFIGURE_DEPENDS 
  "${PROJECT_SOURCE_DIR}/cli/*.c" "${PROJECT_SOURCE_DIR}/cli/page/*.c")
set(command_messages event graph meta_graph objects tensor types error_codes
  google/protobuf/any google/protobuf/wrappers)
list(TRANSFORM command_messages REPLACE "(.+)" "${generated}/\\1.pb-c.c")
add_executable(rheos_command ${command_sources} ${command_messages})
set_target_properties(rheos_command PROPERTIES OUTPUT_NAME rheos)
target_include_directories(rheos_command PRIVATE "${generated}")
target_link_libraries(rheos_command PRIVATE rheos rheos_protobuf_c Threads::Threads m)

file(RELATIVE_PATH libtensorflow_from_bin
  "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}/rheos/libtensorflow")
set_source_files_properties(cli/env.c PROPERTIES COMPILE_DEFINITIONS
  "RHEOS_LIBTENSORFLOW_FROM_BIN=\"${libtensorflow_from_bin}\"")

# What the assembler puts into the page's object file.
file(GLOB page_assets CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/cli/page/*.html" "${PROJECT_SOURCE_DIR}/cli/page/*.css"
  "${PROJECT_SOURCE_DIR}/cli/page/*.js" "${PROJECT_SOURCE_DIR}/cli/page/graphviz/*.js")
set_source_files_properties("${PROJECT_SOURCE_DIR}/cli/page/page.c" PROPERTIES
  OBJECT_DEPENDS "${page_assets}"
  COMPILE_OPTIONS "-Wa,-I,${PROJECT_SOURCE_DIR}/cli/page")

# Metrics of `rheos serve` over HTTP, where Debian's libmicrohttpd-dev is. The library itself is opened
# when it is needed.
if(RHEOS_WITH_METRICS)
  find_path(MICROHTTPD_INCLUDE_DIR microhttpd.h)
  mark_as_advanced(MICROHTTPD_INCLUDE_DIR)
endif()
if(RHEOS_WITH_METRICS AND MICROHTTPD_INCLUDE_DIR)
  target_compile_definitions(rheos_command PRIVATE RHEOS_WITH_MICROHTTPD)
  target_include_directories(rheos_command SYSTEM PRIVATE "${MICROHTTPD_INCLUDE_DIR}")
  target_link_libraries(rheos_command PRIVATE ${CMAKE_DL_LIBS})
endif()

if(RHEOS_WITH_PYTHON)
  file(RELATIVE_PATH prefix_from_bin "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_PREFIX}")
  list(TRANSFORM PYTHON_SITE_DIRS REPLACE "(.+)" "\"${prefix_from_bin}\\1\"" OUTPUT_VARIABLE sites)
  list(JOIN sites "," sites)
  set_source_files_properties(cli/python.c PROPERTIES COMPILE_DEFINITIONS
    "RHEOS_PYTHON=\"${PYTHON_EXECUTABLE}\";RHEOS_SITES_FROM_BIN=${sites}")
endif()
