# librheos-jit.so: compiles fused loops by LLVM. Built where LLVM's C headers are (Debian: llvm-dev), and
# looked for at run time beside librheos.so, which does without it.

if(RHEOS_WITH_JIT AND NOT RHEOS_FUZZ)
  find_program(LLVM_CONFIG NAMES llvm-config llvm-config-19 llvm-config-18 llvm-config-17
    llvm-config-16 llvm-config-15 llvm-config-14)
  mark_as_advanced(LLVM_CONFIG)
  if(LLVM_CONFIG)
    foreach(what includedir libdir)
      execute_process(COMMAND "${LLVM_CONFIG}" --${what} OUTPUT_VARIABLE llvm_${what}
        OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endforeach()
    find_path(LLVM_C_INCLUDE_DIR llvm-c/LLJIT.h HINTS "${llvm_includedir}")
    find_library(LLVM_LIBRARY NAMES LLVM HINTS "${llvm_libdir}")
    mark_as_advanced(LLVM_C_INCLUDE_DIR LLVM_LIBRARY)
  endif()
endif()
if(LLVM_C_INCLUDE_DIR AND LLVM_LIBRARY AND RHEOS_WITH_JIT AND NOT RHEOS_FUZZ)
  file(GLOB jit_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/device/cpu/jit/*.c")
  add_library(rheos_jit MODULE ${jit_sources})
  set_target_properties(rheos_jit PROPERTIES PREFIX "lib" OUTPUT_NAME "rheos-jit")
  target_include_directories(rheos_jit SYSTEM PRIVATE "${LLVM_C_INCLUDE_DIR}")
  target_include_directories(rheos_jit
    PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(rheos_jit PRIVATE "${LLVM_LIBRARY}")
endif()
