# Asks one interpreter, chosen by tools/find-python, for what building and installing for it needs.
#   PYTHON_EXECUTABLE, PYTHON_INCLUDE_DIR, PYTHON_NUMPY_INCLUDE_DIR, PYTHON_EXT_SUFFIX
#   PYTHON_SITE_DIRS: where its packages may go, relative to the prefix of an installation

if(SKBUILD)
  # A wheel is for the interpreter that builds it (pyproject.toml).
  set(PYTHON_EXECUTABLE "${Python_EXECUTABLE}")
else()
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env "PYTHON=${PYTHON}" "${PROJECT_SOURCE_DIR}/tools/find-python"
    OUTPUT_VARIABLE PYTHON_EXECUTABLE OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE result)
  if(result)
    message(FATAL_ERROR "no usable Python (see above); -DPYTHON= names one, "
      "-DRHEOS_WITH_PYTHON=OFF builds without, 'make deps' installs Debian's")
  endif()
endif()

set(describe_python "${PROJECT_SOURCE_DIR}/cmake/describe_python.py")
execute_process(
  COMMAND "${PYTHON_EXECUTABLE}" "${describe_python}"
  OUTPUT_VARIABLE description OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" PYTHON_SITE_DIRS "${description}")
list(POP_FRONT PYTHON_SITE_DIRS PYTHON_INCLUDE_DIR PYTHON_NUMPY_INCLUDE_DIR PYTHON_EXT_SUFFIX)
list(REMOVE_DUPLICATES PYTHON_SITE_DIRS)
if(SKBUILD)
  set(PYTHON_SITE_DIRS "..")  # the prefix is the package
endif()
message(STATUS "Python: ${PYTHON_EXECUTABLE}")

# tools/run-tests and others read which interpreter this tree was built for.
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/python-interpreter" CONTENT "${PYTHON_EXECUTABLE}\n")
