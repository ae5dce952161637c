# How C is compiled: C17, optimised with line numbers, hidden symbols, the same bits everywhere
# (no contraction of a*b+c; a file that wants another trade says so with a pragma or a property).

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "RelWithDebInfo or Debug" FORCE)
endif()
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g")

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_compile_definitions(_GNU_SOURCE)
add_compile_options(-Wall -Wextra -Wpedantic -ffp-contract=off)
add_compile_options($<$<COMPILE_LANGUAGE:C>:-Werror=implicit>)  # later compilers refuse it
# Neither errno after a mathematical function nor floating-point traps are looked at: values stay
# the same, and loops over sqrt or floor become vector code.
add_compile_options(-fno-math-errno -fno-trapping-math)

# Where ccache is installed, another tree that is built like this one takes seconds.
find_program(CCACHE ccache)
mark_as_advanced(CCACHE)
if(CCACHE AND NOT DEFINED CMAKE_C_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_NOHASHDIR=1
    "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" "${CCACHE}")
endif()

# Tables of pointers are relocated from a bitmap, a twentieth of the size, where the linker and the C
# library can (glibc 2.36).
include(CheckCSourceRuns)
set(CMAKE_REQUIRED_LINK_OPTIONS "-Wl,-z,pack-relative-relocs")
check_c_source_runs("
  int number;
  int *volatile numbers[] = {&number, &number};
  int main(void) { return numbers[0] != numbers[1]; }" RHEOS_PACKS_RELOCATIONS)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
if(RHEOS_PACKS_RELOCATIONS)
  add_link_options(-Wl,-z,pack-relative-relocs)
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
# A program need not be linked again when the inside of a library changes.
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)
# The built tree can be moved, and installing changes as little as it can.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

if(RHEOS_SANITIZE)
  # Assertions stay on; the optimiser stays on too, or the tests take minutes.
  set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -g1")
  set(sanitize -fsanitize=${RHEOS_SANITIZE} -fno-sanitize-recover=all)
  # What the sanitizers insert hides from the compiler that a value is set.
  add_compile_options(${sanitize} -fno-omit-frame-pointer)
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-maybe-uninitialized)
  else()
    # Clang is for fuzzing only: GCC's pragmas, and flags chosen by "a | b ? c : d", are meant so.
    add_compile_options(-Wno-unknown-pragmas -Wno-bitwise-conditional-parentheses)
  endif()
  add_link_options(${sanitize})
endif()
if(RHEOS_FUZZ)
  # What would keep a fuzzer out, checksums above all, looks for this name, which is everybody's.
  add_compile_definitions(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
endif()
