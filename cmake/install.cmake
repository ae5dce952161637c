# make install: library, headers, rheos.pc, CMake package, command and its page, Python package.

include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_MESSAGE LAZY)

install(TARGETS rheos EXPORT rheos_targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_COMPONENT development)
if(TARGET rheos_jit)
  install(TARGETS rheos_jit LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY include/rheos "${CMAKE_BINARY_DIR}/generated/include/rheos"
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

file(RELATIVE_PATH lib_from_bin "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
set_target_properties(rheos_command PROPERTIES INSTALL_RPATH "$ORIGIN/${lib_from_bin}")
install(TARGETS rheos_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES docs/rheos.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# Both find the prefix from where they lie, so that the installed tree can be moved.
file(RELATIVE_PATH prefix_from_pc
  "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
configure_file(cmake/rheos.pc.in "${CMAKE_BINARY_DIR}/rheos.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/rheos.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(cmake_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rheos)
install(EXPORT rheos_targets NAMESPACE rheos:: FILE rheos-config.cmake
  DESTINATION ${cmake_package_dir})
write_basic_package_version_file("${CMAKE_BINARY_DIR}/rheos-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/rheos-config-version.cmake" DESTINATION ${cmake_package_dir})

if(RHEOS_BUILD_PYTHON)
  install(DIRECTORY python/rheos DESTINATION ${PYTHON_SITE_DIR}
    FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed"
    PATTERN "__pycache__" EXCLUDE)
  if(TARGET python_core)
    file(RELATIVE_PATH lib_from_module
      "${CMAKE_INSTALL_PREFIX}/${PYTHON_SITE_DIR}/rheos" "${CMAKE_INSTALL_FULL_LIBDIR}")
    set_target_properties(python_core PROPERTIES INSTALL_RPATH "$ORIGIN/${lib_from_module}")
    install(TARGETS python_core LIBRARY DESTINATION ${PYTHON_SITE_DIR}/rheos)
    install(FILES "${CMAKE_BINARY_DIR}/python/rheos/messages.bin" DESTINATION ${PYTHON_SITE_DIR}/rheos)
    install(DIRECTORY "${CMAKE_BINARY_DIR}/python/rheos/v1"
      DESTINATION ${PYTHON_SITE_DIR}/rheos FILES_MATCHING PATTERN "*.pyi")
  endif()
endif()
