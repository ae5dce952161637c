# Run as a script: makes the Python files below TO those below FROM. What else lies in TO (the
# extension module, caches) stays.

cmake_minimum_required(VERSION 3.25)

set(patterns "*.py" "*.pyi" "py.typed")
list(TRANSFORM patterns PREPEND "${FROM}/" OUTPUT_VARIABLE from_patterns)
list(TRANSFORM patterns PREPEND "${TO}/" OUTPUT_VARIABLE to_patterns)
file(GLOB_RECURSE wanted RELATIVE "${FROM}" ${from_patterns})
file(GLOB_RECURSE present RELATIVE "${TO}" ${to_patterns})

foreach(name IN LISTS present)
  if(NOT name IN_LIST wanted)
    file(REMOVE "${TO}/${name}")
  endif()
endforeach()
foreach(name IN LISTS wanted)
  get_filename_component(folder "${TO}/${name}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  file(COPY_FILE "${FROM}/${name}" "${TO}/${name}" ONLY_IF_DIFFERENT)
endforeach()
