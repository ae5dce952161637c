# The rheos command. It finds the Python launcher relative to itself, so that a built or an
# installed tree works wherever it lies. It looks into messages that the library's interface does not
# speak of, so it is linked with the archive.

file(GLOB command_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cli/*.c")
add_executable(rheos_command ${command_sources})
set_target_properties(rheos_command PROPERTIES OUTPUT_NAME rheos)
target_link_libraries(rheos_command PRIVATE rheos_internal)

if(RHEOS_WITH_PYTHON)
  file(RELATIVE_PATH prefix_from_bin "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_PREFIX}")
  list(TRANSFORM PYTHON_SITE_DIRS REPLACE "(.+)" "\"${prefix_from_bin}\\1\"" OUTPUT_VARIABLE sites)
  list(JOIN sites "," sites)
  set_source_files_properties(cli/run.c PROPERTIES COMPILE_DEFINITIONS
    "RHEOS_PYTHON=\"${PYTHON_EXECUTABLE}\";RHEOS_SITES_FROM_BIN=${sites}")
endif()
