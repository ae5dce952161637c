# make install, and what its components have (cmake --install build --component NAME):
#
#   library      librheos.so.0, what compiles loops
#   grpc         what clusters speak by
#   mpi          what ranks speak by
#   development  headers, the name that is linked with, librheos.a, rheos.pc, CMake package
#   command      rheos and its page
#   python       the package and its extension
#   libtensorflow  TensorFlow's C interface, aside in a prefix of its own
#   libtensorflow_development  its headers, the names that are linked with, tensorflow.pc

include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_MESSAGE LAZY)

install(TARGETS rheos EXPORT rheos_targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
# What librheos.so opens itself is nobody's to link with, and lies in a folder of its own.
foreach(part IN ITEMS jit grpc mpi)
  if(TARGET rheos_${part})
    set(component ${part})
    if(part STREQUAL "jit")
      set(component library)
    endif()
    install(TARGETS rheos_${part}
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/rheos COMPONENT ${component})
  endif()
endforeach()

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
install(DIRECTORY include/rheos "${CMAKE_BINARY_DIR}/generated/include/rheos"
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
if(TARGET rheos_static AND NOT SKBUILD)  # a wheel has no room for it
  install(FILES "${rheos_archive}" DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

# All of them find the prefix from where they lie, so that the installed tree can be moved.
file(RELATIVE_PATH prefix_from_pc
  "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
configure_file(cmake/rheos.pc.in "${CMAKE_BINARY_DIR}/rheos.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/rheos.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(cmake_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rheos)
install(EXPORT rheos_targets NAMESPACE rheos:: FILE rheos-targets.cmake
  DESTINATION ${cmake_package_dir})
string(REPLACE " " ";" RHEOS_STATIC_LIBRARIES "${RHEOS_STATIC_LIBS}")
configure_file(cmake/rheos-config.cmake.in "${CMAKE_BINARY_DIR}/rheos-config.cmake" @ONLY)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/rheos-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/rheos-config.cmake"
  "${CMAKE_BINARY_DIR}/rheos-config-version.cmake" DESTINATION ${cmake_package_dir})

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME command)
file(RELATIVE_PATH lib_from_bin "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
set_target_properties(rheos_command PROPERTIES INSTALL_RPATH "$ORIGIN/${lib_from_bin}")
install(TARGETS rheos_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(SKBUILD)  # beside the command that pip puts in bin/, where man looks
  install(FILES docs/rheos.1 DESTINATION "${SKBUILD_DATA_DIR}/share/man/man1")
else()
  install(FILES docs/rheos.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()

if(TARGET rheos_tensorflow)
  set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME libtensorflow_development)
  set(capi_prefix ${CMAKE_INSTALL_LIBDIR}/rheos/libtensorflow)
  set_target_properties(rheos_tensorflow rheos_tensorflow_framework PROPERTIES
    INSTALL_RPATH "$ORIGIN;$ORIGIN/../../..")
  install(TARGETS rheos_tensorflow rheos_tensorflow_framework
    LIBRARY DESTINATION ${capi_prefix}/lib COMPONENT libtensorflow
    NAMELINK_COMPONENT libtensorflow_development)
  install(DIRECTORY capi/include DESTINATION ${capi_prefix} FILES_MATCHING PATTERN "*.h")
  install(FILES "${capi_dir}/lib/pkgconfig/tensorflow.pc" DESTINATION ${capi_prefix}/lib/pkgconfig)
endif()

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME python)
if(RHEOS_WITH_PYTHON)
  # Where packages go depends on the prefix, which may be another than this tree was configured with.
  if(SKBUILD)
    install(CODE "set(RHEOS_SITE_DIR ${PYTHON_SITE_DIRS})")
  else()
    install(CODE "execute_process(
      COMMAND \"${PYTHON_EXECUTABLE}\" \"${describe_python}\" \"\${CMAKE_INSTALL_PREFIX}\"
      OUTPUT_VARIABLE RHEOS_SITE_DIR OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)")
  endif()
  install(DIRECTORY python/rheos DESTINATION \${RHEOS_SITE_DIR}
    FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed"
    PATTERN "__pycache__" EXCLUDE)
  if(TARGET python_core)
    list(GET PYTHON_SITE_DIRS 0 site)  # all lie as deep
    file(RELATIVE_PATH lib_from_module
      "${CMAKE_INSTALL_PREFIX}/${site}/rheos" "${CMAKE_INSTALL_FULL_LIBDIR}")
    set_target_properties(python_core PROPERTIES INSTALL_RPATH "$ORIGIN/${lib_from_module}")
    install(TARGETS python_core LIBRARY DESTINATION \${RHEOS_SITE_DIR}/rheos)
    install(FILES "${CMAKE_BINARY_DIR}/python/rheos/messages.bin" DESTINATION \${RHEOS_SITE_DIR}/rheos)
    install(DIRECTORY "${CMAKE_BINARY_DIR}/python/rheos/v1"
      DESTINATION \${RHEOS_SITE_DIR}/rheos FILES_MATCHING PATTERN "*.pyi")
  endif()
endif()
