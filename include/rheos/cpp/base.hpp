// Rheos for C++17: errors, results, lists, texts, and who owns what. <rheos/rheos.hpp> has the
// rest.
//
// The header is a thin layer over <rheos/rheos.h>: what a class or function here does, what its
// arguments mean and when it fails is told where the C function of that name is declared. A name of
// C loses its prefix; what begins with a type's name is a member: rheos_session_run() is
// Session::run(), rheos_matmul() rheos::matmul(). Values (shapes, options, attributes) are the C
// structs themselves.
//
// Ownership: `Graph`, `Session` and so on own what they are about. Counted things (graphs, tensors,
// hosts, regions) are copied by reference, others only moved. `SessionRef` and its like borrow, and
// have the same members. An object that was moved from, or could not be made, is empty: it tests
// false, and what is asked of it fails with RHEOS_INVALID_ARGUMENT, as NULL does in C.
//
// Errors, by choice: where exceptions are on, functions throw rheos::Error and give what they make.
// With -fno-exceptions, or RHEOS_NO_EXCEPTIONS defined before the first include, they give a
// rheos::Result, which holds what they make or a Status and has to be looked at. Files of both
// kinds can be linked together. Building a graph does neither: the scope keeps the first error, and
// Scope::finish() tells it. The standard library's own containers, which results come in, need
// memory as it does everywhere.
#ifndef RHEOS_CPP_BASE_HPP
#define RHEOS_CPP_BASE_HPP

#include <rheos/rheos.h>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if !defined(RHEOS_NO_EXCEPTIONS) && !defined(__cpp_exceptions)
#define RHEOS_NO_EXCEPTIONS 1
#endif

// The two kinds are two namespaces to the linker.
#ifdef RHEOS_NO_EXCEPTIONS
#define RHEOS_CPP_BEGIN \
  namespace rheos {     \
  inline namespace with_status {
#else
#define RHEOS_CPP_BEGIN \
  namespace rheos {     \
  inline namespace with_exceptions {
#endif
#define RHEOS_CPP_END \
  }                   \
  }

RHEOS_CPP_BEGIN

// ---- Lists that are borrowed for a call

// A pointer and a count: of an initializer list, an array, a vector or whatever has data() and
// size().
template <class T>
class Span {
 public:
  using value_type = std::remove_cv_t<T>;

  constexpr Span() = default;
  constexpr Span(T *data, size_t size) : data_(data), size_(size) {}
  template <size_t count>
  constexpr Span(T (&array)[count]) : data_(array), size_(count) {}
  // The list lasts until the call that it is written in is over.
  template <class U = T, class = std::enable_if_t<std::is_const_v<U>>>
  constexpr Span(std::initializer_list<value_type> list) : Span(std::data(list), list.size()) {}
  // Of T's, or of a class over it that adds nothing to it, such as Output over rheos_output.
  template <
      class List, class Element = std::remove_pointer_t<decltype(std::declval<List &>().data())>,
      class =
          std::enable_if_t<(std::is_convertible_v<Element (*)[], T (*)[]> ||
                            (std::is_class_v<value_type> && std::is_convertible_v<Element *, T *> &&
                             sizeof(Element) == sizeof(value_type))) &&
                           std::is_convertible_v<decltype(std::declval<List &>().size()), size_t>>>
  constexpr Span(List &&list) : data_(list.data()), size_(list.size()) {}

  constexpr T *data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T *begin() const { return data_; }
  constexpr T *end() const { return data_ + size_; }
  constexpr T &operator[](size_t index) const { return data_[index]; }

 private:
  T *data_ = nullptr;
  size_t size_ = 0;
};

// A text that ends with NUL: "literal", std::string, or NULL where the C function takes it.
// Borrowed, as lists are: options that are kept in a variable need texts and lists that last as
// long.
class Text {
 public:
  constexpr Text(const char *text = nullptr) : text_(text) {}
  Text(const std::string &text) : text_(text.c_str()) {}
  constexpr operator const char *() const { return text_; }
  constexpr const char *get() const { return text_; }

 private:
  const char *text_;
};
using Texts = Span<const char *const>;

// The bytes of a message or a file: of a std::string, of Bytes, of any list of char or of octets.
class BytesView {
 public:
  constexpr BytesView() = default;
  constexpr BytesView(const void *data, size_t size) : data_(data), size_(size) {}
  template <class List, class = std::enable_if_t<sizeof(*std::declval<const List &>().data()) == 1>>
  BytesView(const List &list) : data_(list.data()), size_(list.size()) {}

  constexpr const void *data() const { return data_; }
  constexpr size_t size() const { return size_; }

 private:
  const void *data_ = nullptr;
  size_t size_ = 0;
};

// Numbers of options that may be left out: `options.max_to_keep = given(3)`.
inline rheos_optional_int given(int64_t value) { return rheos_int(value); }
inline rheos_optional_int given(int32_t value) { return rheos_int(value); }
inline rheos_optional_float given(float value) { return rheos_float(value); }
inline rheos_optional_float given(double value) { return rheos_float(static_cast<float>(value)); }
inline rheos_optional_int given(const std::optional<int64_t> &value) {
  return value ? rheos_int(*value) : rheos_optional_int{};
}
inline rheos_optional_float given(const std::optional<float> &value) {
  return value ? rheos_float(*value) : rheos_optional_float{};
}

// ---- Errors

inline const char *version() { return rheos_version(); }
inline const char *code_name(rheos_code code) { return rheos_code_name(code); }
inline void set_allocator(const rheos_allocator *allocator) { rheos_set_allocator(allocator); }

// Success, or an error that it owns.
class [[nodiscard]] Status {
 public:
  Status() = default;
  explicit Status(rheos_status *taken) : status_(taken) {}
  Status(rheos_code code, Text message) : status_(rheos_status_new(code, "%s", message.get())) {}
  Status(Status &&other) noexcept : status_(other.release()) {}
  Status &operator=(Status &&other) noexcept {
    std::swap(status_, other.status_);
    return *this;
  }
  ~Status() { rheos_status_free(status_); }

  bool ok() const { return status_ == nullptr; }
  rheos_code code() const { return rheos_status_code(status_); }
  const char *message() const { return rheos_status_message(status_); }
  const char *node() const { return rheos_status_node(status_); }
  const rheos_status *get() const { return status_; }
  // For C: the caller frees it.
  rheos_status *release() { return std::exchange(status_, nullptr); }

 private:
  rheos_status *status_ = nullptr;
};

#ifndef RHEOS_NO_EXCEPTIONS

// What functions throw. Copies share the status.
class Error : public std::exception {
 public:
  explicit Error(Status &&status) : status_(std::make_shared<Status>(std::move(status))) {}
  const char *what() const noexcept override { return status_->message(); }
  rheos_code code() const { return status_->code(); }
  const char *node() const { return status_->node(); }
  const Status &status() const { return *status_; }

 private:
  std::shared_ptr<const Status> status_;
};

template <class T>
using Result = T;

#else

// What a function makes, or the error that kept it from that.
template <class T>
class [[nodiscard]] ResultOf {
 public:
  ResultOf(T value) : value_(std::move(value)) {}
  ResultOf(Status &&status) : status_(std::move(status)) {}

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status &status() const { return status_; }
  Status take_status() { return std::move(status_); }
  // Only of a result that is ok().
  T &value() { return assert(ok()), *value_; }
  const T &value() const { return assert(ok()), *value_; }
  T &operator*() { return value(); }
  const T &operator*() const { return value(); }
  T *operator->() { return &value(); }
  const T *operator->() const { return &value(); }

 private:
  Status status_;
  std::optional<T> value_;
};
namespace detail {
template <class T>
struct ResultType {
  using type = ResultOf<T>;
};
template <>
struct ResultType<void> {
  using type = Status;
};
}  // namespace detail
template <class T>
using Result = typename detail::ResultType<T>::type;

#endif

// ---- What the other headers are made with

namespace detail {

#ifndef RHEOS_NO_EXCEPTIONS
inline void done(rheos_status *status) {
  if (status != nullptr) throw Error(Status(status));
}
// What a C function has set, as a T, if it gave no error.
template <class T, class From>
T made(rheos_status *status, From &from) {
  done(status);
  return T(std::move(from));
}
// What a function of C gives that has no other error than a lack of memory.
template <class C>
C *there(C *made) {
  if (made == nullptr) done(rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory"));
  return made;
}
// What a program's function does, as the status that C is given.
template <class Function>
rheos_status *status_of(Function &&function) {
  try {
    if constexpr (std::is_void_v<decltype(function())>) {
      function();
      return nullptr;
    } else {
      return function().release();
    }
  } catch (const Error &error) {
    return rheos_status_new(error.code(), "%s", error.what());
  } catch (const std::exception &error) {
    return rheos_status_new(RHEOS_UNKNOWN, "%s", error.what());
  } catch (...) {
    return rheos_status_new(RHEOS_UNKNOWN, "something was thrown that is no std::exception");
  }
}
#else
inline Status done(rheos_status *status) { return Status(status); }
template <class T, class From>
ResultOf<T> made(rheos_status *status, From &from) {
  if (status != nullptr) return Status(status);
  return T(std::move(from));
}
template <class C>
C *there(C *made) {
  return made;
}
template <class Function>
rheos_status *status_of(Function &&function) {
  if constexpr (std::is_void_v<decltype(function())>) {
    function();
    return nullptr;
  } else {
    return function().release();
  }
}
#endif

// A function, or an object that is called, as the argument of a callback of C, and back.
template <class Function>
void *argument_of(Function &function) {
  if constexpr (std::is_function_v<Function>) {
    return reinterpret_cast<void *>(&function);
  } else {
    return const_cast<void *>(static_cast<const void *>(&function));
  }
}
template <class Function>
Function &function_of(void *argument) {
  if constexpr (std::is_function_v<Function>) {
    return *reinterpret_cast<Function *>(argument);
  } else {
    return *static_cast<Function *>(argument);
  }
}

// Where a value is; NULL if there is none.
template <class T>
const T *address(const std::optional<T> &value) {
  return value ? &*value : nullptr;
}

// Texts that a C function writes into a buffer that it is given, and whose length it returns.
template <class Write>
std::string written(Write &&write) {
  std::string text(write(nullptr, size_t{0}), '\0');
  write(text.data(), text.size() + 1);
  return text;
}

}  // namespace detail

// ---- Who owns what

// Over a handle that is somebody else's: what the classes NameRef have in common.
template <class C>
class Handle {
 public:
  using c_type = C;
  Handle() = default;
  Handle(C *handle) : handle_(handle) {}
  C *get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

 protected:
  C *handle_ = nullptr;
};

// One who owns the handle, and has the members of Ref.
template <class Ref, auto Free>
class Owned : public Ref {
 public:
  using c_type = typename Ref::c_type;
  Owned() = default;
  explicit Owned(c_type *taken) : Ref(taken) {}
  Owned(Owned &&other) noexcept : Ref(other.release()) {}
  Owned &operator=(Owned &&other) noexcept {
    std::swap(this->handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if constexpr (std::is_void_v<decltype(Free(this->handle_))>) {
      Free(this->handle_);
    } else {
      rheos_status_free(Free(this->handle_));
    }
  }
  // For C: the caller frees it.
  c_type *release() { return std::exchange(this->handle_, nullptr); }
};

// One of several who hold a counted handle.
template <class Ref, auto More, auto Less>
class Counted : public Ref {
 public:
  using c_type = typename Ref::c_type;
  Counted() = default;
  explicit Counted(c_type *taken) : Ref(taken) {}
  Counted(const Counted &other) : Ref(more(other.handle_)) {}
  Counted(Counted &&other) noexcept : Ref(other.release()) {}
  Counted &operator=(Counted other) noexcept {
    std::swap(this->handle_, other.handle_);
    return *this;
  }
  ~Counted() { Less(this->handle_); }
  // A reference of one's own to what is borrowed.
  static Counted borrow(c_type *handle) { return Counted(more(handle)); }
  c_type *release() { return std::exchange(this->handle_, nullptr); }

 private:
  static c_type *more(c_type *handle) { return handle != nullptr ? More(handle) : nullptr; }
};

// Memory that the library has given: `size` elements behind the pointer.
template <class T>
class Array {
 public:
  Array() = default;
  Array(T *taken, size_t size) : data_(taken), size_(size) {}
  Array(Array &&other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Array &operator=(Array &&other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Array() { rheos_free(data_); }

  T *data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T *begin() const { return data_; }
  T *end() const { return data_ + size_; }
  T &operator[](size_t index) const { return data_[index]; }

 private:
  T *data_ = nullptr;
  size_t size_ = 0;
};
using Bytes = Array<char>;

namespace detail {
// Makes Bytes by a function of C that sets a pointer and a size.
template <class Make>
Result<Bytes> bytes_of(Make &&make) {
  void *data = nullptr;
  size_t size = 0;
  rheos_status *status = make(&data, &size);
  Bytes bytes(static_cast<char *>(data), size);
  return made<Bytes>(status, bytes);
}
// Makes an Array by a function of C that sets a pointer and a count.
template <class T, class Make>
Result<Array<T>> array_of(Make &&make) {
  T *data = nullptr;
  size_t size = 0;
  rheos_status *status = make(&data, &size);
  Array<T> array(data, size);
  return made<Array<T>>(status, array);
}
// Makes a text by a function of C that sets a pointer to one.
template <class Make>
Result<std::string> text_of(Make &&make) {
  char *data = nullptr;
  rheos_status *status = make(&data);
  std::string text(data != nullptr ? data : "");
  rheos_free(data);
  return made<std::string>(status, text);
}
// Makes a Handle by a function of C that sets one.
template <class T, class Make>
Result<T> handle_of(Make &&make) {
  typename T::c_type *handle = nullptr;
  rheos_status *status = make(&handle);
  return made<T>(status, handle);
}
}  // namespace detail

RHEOS_CPP_END

#endif  // RHEOS_CPP_BASE_HPP
