// What the tests of <rheos/rheos.hpp> have in common.
#ifndef RHEOS_TESTS_CPP_CPP_TEST_HPP
#define RHEOS_TESTS_CPP_CPP_TEST_HPP

#include <rheos/rheos.hpp>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

extern "C" {
#include <cmocka.h>
}

// A macro of cmocka, and a member of datasets.
#undef skip
inline void skip_this_test() { _skip(__FILE__, __LINE__); }

// A folder that goes with what is in it.
class Folder {
 public:
  Folder() : path_("/tmp/rheos-cpp-XXXXXX") { assert_non_null(mkdtemp(path_.data())); }
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;
  ~Folder() {
    const std::string command = "rm -r '" + path_ + "'";
    if (std::system(command.c_str()) != 0) std::perror(path_.c_str());
  }
  std::string operator/(const char *name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline void assert_floats(const rheos::TensorRef &tensor, std::initializer_list<float> expected) {
  const rheos::Span<float> values = tensor.values<float>();
  assert_int_equal(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); i++) {
    assert_float_equal(values[i], expected.begin()[i], 1e-5F);
  }
}

#ifndef RHEOS_NO_EXCEPTIONS
// That `function` throws an error of the code; gives its message.
template <class Function>
std::string assert_throws(rheos_code code, Function &&function) {
  try {
    function();
  } catch (const rheos::Error &error) {
    assert_string_equal(rheos::code_name(error.code()), rheos::code_name(code));
    return error.what();
  }
  fail_msg("nothing was thrown");
  return {};
}
#endif

#endif  // RHEOS_TESTS_CPP_CPP_TEST_HPP
