# docs/ops.md is renewed from the op table by `make docs`; a test says when that was forgotten.

add_executable(list_ops tools/list_ops.c)
target_link_libraries(list_ops PRIVATE rheos_internal)
set_target_properties(list_ops PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tools")

find_program(ANY_PYTHON NAMES python3 REQUIRED)
mark_as_advanced(ANY_PYTHON)
add_custom_target(docs
  COMMAND "${ANY_PYTHON}" "${PROJECT_SOURCE_DIR}/tools/op-docs" $<TARGET_FILE:list_ops>
  VERBATIM)
if(RHEOS_BUILD_TESTS)
  add_test(NAME check_op_docs
    COMMAND "${ANY_PYTHON}" "${PROJECT_SOURCE_DIR}/tools/op-docs" $<TARGET_FILE:list_ops> --check)
endif()
