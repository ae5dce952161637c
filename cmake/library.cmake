# librheos: every C file of src/ is compiled once, then linked thrice: as the shared library and the
# archive that programs use, and as an archive for the C tests, which reach internal names (rheos__*).
#
#   protos -> C files ┐                ┌-> wrapper generator -> ops.h
#   src/**/*.c        ┴-> core objects ┴-> librheos.so, librheos.a, librheos_internal.a

set(generated "${CMAKE_BINARY_DIR}/generated")
set(generated_include "${generated}/include")
file(MAKE_DIRECTORY "${generated_include}/rheos/cpp")

# ---- Wire formats: src/format/proto/**/*.proto -> generated/**/*.pb-c.[ch]
set(proto_root "${PROJECT_SOURCE_DIR}/src/format/proto")
file(GLOB_RECURSE protos CONFIGURE_DEPENDS RELATIVE "${proto_root}"
  "${PROJECT_SOURCE_DIR}/src/format/proto/*.proto")
set(proto_sources)
if(protos AND NOT PROTOC_C)
  message(FATAL_ERROR "protoc-c is missing: install protobuf-c-compiler, or run 'make deps'")
endif()
list(TRANSFORM protos PREPEND "${proto_root}/" OUTPUT_VARIABLE proto_files)
set(all_protos ${protos})
# What only the Python front end has messages of is not compiled to C.
set(python_protos debug_event.proto example.proto projector.proto xplane.proto)
list(REMOVE_ITEM protos ${python_protos})
foreach(proto IN LISTS protos)
  string(REGEX REPLACE "\\.proto$" ".pb-c" stem "${proto}")
  add_custom_command(
    OUTPUT "${generated}/${stem}.c" "${generated}/${stem}.h"
    COMMAND "${PROTOC_C}" "--proto_path=${proto_root}" "--c_out=${generated}" "${proto}"
    DEPENDS ${proto_files}  # any of them may be imported
    COMMENT "Compiling ${proto}"
    VERBATIM)
  list(APPEND proto_sources "${generated}/${stem}.c")
endforeach()
# What protoc-c writes is not ours to tidy.
set_source_files_properties(${proto_sources} PROPERTIES COMPILE_OPTIONS "-w")

# ---- The objects
file(GLOB_RECURSE core_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*.c")
list(FILTER core_sources EXCLUDE REGEX "/src/(device/cpu/jit|net/grpc|net/mpi)/")  # libraries of their own
# What a library computes that may be left out has a file without it beside.
foreach(part IN ITEMS LAPACK ONEDNN OPENCL)
  string(TOLOWER ${part} file)
  if(RHEOS_WITH_${part})
    string(APPEND file "_left_out")
  endif()
  list(FILTER core_sources EXCLUDE REGEX "/${file}\\.c$")
endforeach()
if(NOT RHEOS_WITH_OPENCL)
  list(FILTER core_sources EXCLUDE REGEX "/src/device/opencl/")
endif()
add_library(rheos_core OBJECT ${core_sources} ${proto_sources})
set_target_properties(rheos_core PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(rheos_core
  PUBLIC "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src"
         "${generated_include}" "${generated}")
target_link_libraries(rheos_core PUBLIC rheos_deps)

# Nothing is thrown through kernels, but for what a program's own functions throw (py_func.c): they
# need no tables for unwinding in the library. Debuggers read those of the debug information.
if(NOT RHEOS_SANITIZE)
  set(kernel_sources ${core_sources})
  list(FILTER kernel_sources INCLUDE REGEX "/src/(ops|device)/")
  list(FILTER kernel_sources EXCLUDE REGEX "/py_func\\.c$")
  set_property(SOURCE ${kernel_sources} ${proto_sources}
    APPEND PROPERTY COMPILE_OPTIONS "-fno-asynchronous-unwind-tables")
endif()

if(RHEOS_FUZZ)
  # Instrumented, its unrolled tiles take clang minutes, and no reader of files comes near them.
  set_source_files_properties(src/device/cpu/dense_kernel.c
    PROPERTIES COMPILE_OPTIONS "-fno-sanitize=all")
endif()

# ---- The typed wrappers: a program linked with the op table writes a header
set(wrappers_header "${generated_include}/rheos/ops.h")
set(wrappers_cpp "${generated_include}/rheos/cpp/ops.hpp")
set(wrappers_list "${generated}/wrappers.def")
add_executable(generate_wrappers tools/generate_wrappers.c)
target_link_libraries(generate_wrappers PRIVATE rheos_core)
set_target_properties(generate_wrappers PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tools")
# The generator is linked anew with every change of the core; what it writes seldom changes.
set(wrappers_new "${CMAKE_BINARY_DIR}/tools/ops")
add_custom_command(
  OUTPUT "${wrappers_header}" "${wrappers_cpp}" "${wrappers_list}"
  COMMAND generate_wrappers "${wrappers_new}.h" "${wrappers_new}.hpp" "${wrappers_new}.def"
  COMMAND ${CMAKE_COMMAND} -E copy_if_different "${wrappers_new}.h" "${wrappers_header}"
  COMMAND ${CMAKE_COMMAND} -E copy_if_different "${wrappers_new}.hpp" "${wrappers_cpp}"
  COMMAND ${CMAKE_COMMAND} -E copy_if_different "${wrappers_new}.def" "${wrappers_list}"
  DEPENDS generate_wrappers  # a COMMAND alone orders, it does not renew
  COMMENT "Writing the op wrappers"
  VERBATIM)
add_custom_target(rheos_wrappers DEPENDS "${wrappers_header}" "${wrappers_cpp}" "${wrappers_list}")

# ---- The three libraries
add_library(rheos SHARED $<TARGET_OBJECTS:rheos_core>)
add_dependencies(rheos rheos_wrappers)
set_target_properties(rheos PROPERTIES LINKER_LANGUAGE C EXPORT_NAME rheos)
if(NOT SKBUILD)  # a wheel has no links between files
  set_target_properties(rheos PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
endif()
target_include_directories(rheos PUBLIC
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<BUILD_INTERFACE:${generated_include}>"
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_link_libraries(rheos PRIVATE rheos_deps)
if(NOT RHEOS_SANITIZE)
  target_link_options(rheos PRIVATE -Wl,--no-undefined)
endif()
set(rheos_map "${PROJECT_SOURCE_DIR}/cmake/rheos.map")
target_link_options(rheos PRIVATE "-Wl,--version-script=${rheos_map}")
set_target_properties(rheos PROPERTIES LINK_DEPENDS "${rheos_map}")

# One object, in which all but the public names is local: a program may have the same names.
set(rheos_archive "${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/librheos.a")
if(NOT RHEOS_SANITIZE)
  set(whole "${CMAKE_BINARY_DIR}/rheos.o")
  add_custom_command(
    OUTPUT "${rheos_archive}"
    COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o "${whole}" "$<TARGET_OBJECTS:rheos_core>"
    COMMAND ${CMAKE_OBJCOPY} -w "--keep-global-symbol=rheos_[a-z]*" "${whole}"
    COMMAND ${CMAKE_COMMAND} -E rm -f "${rheos_archive}"
    COMMAND ${CMAKE_AR} crD "${rheos_archive}" "${whole}"
    COMMAND ${CMAKE_COMMAND} -E rm "${whole}"
    DEPENDS "$<TARGET_OBJECTS:rheos_core>"
    COMMENT "Writing librheos.a"
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(rheos_static ALL DEPENDS "${rheos_archive}" rheos_wrappers)
endif()

add_library(rheos_internal STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:rheos_core>)
add_dependencies(rheos_internal rheos_wrappers)
set_target_properties(rheos_internal PROPERTIES LINKER_LANGUAGE C)
target_link_libraries(rheos_internal PUBLIC rheos_deps)
target_include_directories(rheos_internal
  PUBLIC $<TARGET_PROPERTY:rheos_core,INTERFACE_INCLUDE_DIRECTORIES>)
