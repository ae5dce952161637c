# The rheos command. It finds the Python launcher relative to itself, so that a built or an
# installed tree works wherever it lies. It looks into messages that the library's interface does not
# speak of, so it is linked with the archive.

file(GLOB command_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cli/*.c")
add_executable(rheos_command ${command_sources})
set_target_properties(rheos_command PROPERTIES OUTPUT_NAME rheos)
target_link_libraries(rheos_command PRIVATE rheos_internal)

if(RHEOS_WITH_PYTHON)
  file(RELATIVE_PATH site_from_bin
    "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_PREFIX}/${PYTHON_SITE_DIR}")
  set_source_files_properties(cli/run.c PROPERTIES COMPILE_DEFINITIONS
    "RHEOS_PYTHON=\"${PYTHON_EXECUTABLE}\";RHEOS_SITE_FROM_BIN=\"${site_from_bin}\"")
endif()
