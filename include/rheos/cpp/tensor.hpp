// Tensors of C++: dtypes of C++'s types, typed elements, shapes.
#ifndef RHEOS_CPP_TENSOR_HPP
#define RHEOS_CPP_TENSOR_HPP

#include <rheos/cpp/base.hpp>

#include <complex>
#include <iterator>

RHEOS_CPP_BEGIN

// ---- Dtypes and shapes

inline size_t dtype_size(rheos_dtype dtype) { return rheos_dtype_size(dtype); }
inline const char *dtype_name(rheos_dtype dtype) { return rheos_dtype_name(dtype); }
inline rheos_dtype dtype_from_name(Text name) { return rheos_dtype_from_name(name); }
inline bool dtype_is_ref(rheos_dtype dtype) { return rheos_dtype_is_ref(dtype); }
inline rheos_dtype dtype_base(rheos_dtype dtype) { return rheos_dtype_base(dtype); }
inline bool dtype_is_floating(rheos_dtype dtype) { return rheos_dtype_is_floating(dtype); }
inline bool dtype_is_complex(rheos_dtype dtype) { return rheos_dtype_is_complex(dtype); }
inline bool dtype_is_integer(rheos_dtype dtype) { return rheos_dtype_is_integer(dtype); }
inline float half_to_float(uint16_t half) { return rheos_half_to_float(half); }
inline uint16_t float_to_half(float value) { return rheos_float_to_half(value); }
inline float bfloat16_to_float(uint16_t value) { return rheos_bfloat16_to_float(value); }
inline uint16_t float_to_bfloat16(float value) { return rheos_float_to_bfloat16(value); }

// The dtype whose elements are T's: dtype_of<float> is RHEOS_FLOAT.
template <class T>
inline constexpr rheos_dtype dtype_of = RHEOS_INVALID_DTYPE;
template <>
inline constexpr rheos_dtype dtype_of<float> = RHEOS_FLOAT;
template <>
inline constexpr rheos_dtype dtype_of<double> = RHEOS_DOUBLE;
template <>
inline constexpr rheos_dtype dtype_of<int8_t> = RHEOS_INT8;
template <>
inline constexpr rheos_dtype dtype_of<int16_t> = RHEOS_INT16;
template <>
inline constexpr rheos_dtype dtype_of<int32_t> = RHEOS_INT32;
template <>
inline constexpr rheos_dtype dtype_of<int64_t> = RHEOS_INT64;
template <>
inline constexpr rheos_dtype dtype_of<uint8_t> = RHEOS_UINT8;
template <>
inline constexpr rheos_dtype dtype_of<uint16_t> = RHEOS_UINT16;
template <>
inline constexpr rheos_dtype dtype_of<uint32_t> = RHEOS_UINT32;
template <>
inline constexpr rheos_dtype dtype_of<uint64_t> = RHEOS_UINT64;
template <>
inline constexpr rheos_dtype dtype_of<bool> = RHEOS_BOOL;
template <>
inline constexpr rheos_dtype dtype_of<std::complex<float>> = RHEOS_COMPLEX64;
template <>
inline constexpr rheos_dtype dtype_of<std::complex<double>> = RHEOS_COMPLEX128;
template <>
inline constexpr rheos_dtype dtype_of<rheos_string> = RHEOS_STRING;

// A shape is written {2, 3}, {} is a scalar's, -1 an unknown dimension.
class Shape : public rheos_shape {
 public:
  Shape() : rheos_shape{0, {}} {}
  Shape(const rheos_shape &shape) : rheos_shape(shape) {}
  // More than eight dimensions give a shape that no tensor has.
  Shape(std::initializer_list<int64_t> dims) : Shape(Span<const int64_t>(dims)) {}
  explicit Shape(Span<const int64_t> sizes) : rheos_shape{0, {}} {
    rank = sizes.size() <= RHEOS_MAX_RANK ? static_cast<int32_t>(sizes.size()) : RHEOS_MAX_RANK + 1;
    for (size_t i = 0; i < sizes.size() && i < RHEOS_MAX_RANK; i++) dims[i] = sizes[i];
  }
  static Shape unknown() { return RHEOS_UNKNOWN_SHAPE; }

  bool is_known() const { return rheos_shape_is_known(this); }
  bool is_compatible(const Shape &other) const { return rheos_shape_compatible(this, &other); }
  int64_t num_elements() const { return rheos_shape_num_elements(this); }
  std::string format() const {
    return detail::written(
        [this](char *text, size_t size) { return rheos_shape_format(this, text, size); });
  }
};
inline bool operator==(const Shape &a, const Shape &b) { return rheos_shape_equal(&a, &b); }
inline bool operator!=(const Shape &a, const Shape &b) { return !(a == b); }

// ---- Tensors

class TensorRef : public Handle<rheos_tensor> {
 public:
  using Handle::Handle;

  rheos_dtype dtype() const { return rheos_tensor_dtype(handle_); }
  Shape shape() const { return *rheos_tensor_shape(handle_); }
  int64_t num_elements() const { return rheos_tensor_num_elements(handle_); }
  size_t size_bytes() const { return rheos_tensor_size_bytes(handle_); }
  const char *device() const { return rheos_tensor_device(handle_); }
  void *data() const { return rheos_tensor_data(handle_); }
  // The elements as T's, which must be as large as the dtype's are: texts are rheos_string, half
  // and bfloat16 uint16_t. None of a tensor of another size of elements, or of none.
  template <class T>
  Span<T> values() const {
    void *elements = *this ? data() : nullptr;
    if (elements == nullptr || rheos_dtype_size(dtype()) != sizeof(T)) return {};
    return {static_cast<T *>(elements), static_cast<size_t>(num_elements())};
  }
  // The first element: of a scalar its value.
  template <class T>
  T scalar() const {
    assert(!values<T>().empty());
    return values<T>()[0];
  }
  Result<void> set_string(int64_t index, BytesView text) {
    return detail::done(rheos_tensor_set_string(
        handle_, index, static_cast<const char *>(text.data()), text.size()));
  }
  Result<rheos_statistics> statistics() const {
    rheos_statistics statistics{};
    rheos_status *status = rheos_tensor_statistics(handle_, &statistics);
    return detail::made<rheos_statistics>(status, statistics);
  }
  Result<rheos_histogram> histogram() const {
    rheos_histogram histogram{};
    rheos_status *status = rheos_tensor_histogram(handle_, &histogram);
    return detail::made<rheos_histogram>(status, histogram);
  }
};

class Tensor : public Counted<TensorRef, rheos_tensor_ref, rheos_tensor_unref> {
 public:
  using Counted::Counted;
  Tensor(Counted &&tensor) : Counted(std::move(tensor)) {}

  static Result<Tensor> make(rheos_dtype dtype, const Shape &shape) {
    return detail::handle_of<Tensor>(
        [&](rheos_tensor **out) { return rheos_tensor_new(dtype, shape, out); });
  }
  // Of these values: as many as the shape has, or RHEOS_INVALID_ARGUMENT.
  template <class T>
  static Result<Tensor> from_values(const Shape &shape, Span<const T> values) {
    static_assert(dtype_of<T> != RHEOS_INVALID_DTYPE, "no dtype has such elements");
    return detail::handle_of<Tensor>([&](rheos_tensor **out) {
      return static_cast<uint64_t>(shape.num_elements()) != values.size()
                 ? rheos_status_new(RHEOS_INVALID_ARGUMENT, "%zu values for the shape %s",
                                    values.size(), shape.format().c_str())
                 : rheos_tensor_from_values(dtype_of<T>, shape, values.data(), out);
    });
  }
  template <class T>
  static Result<Tensor> from_values(const Shape &shape, std::initializer_list<T> values) {
    return from_values<T>(shape, Span<const T>(values));
  }
  // Of a vector, an array or any other list.
  template <class List, class T = std::remove_const_t<std::remove_pointer_t<
                            decltype(std::data(std::declval<const List &>()))>>>
  static Result<Tensor> from_values(const Shape &shape, const List &values) {
    return from_values<T>(shape, Span<const T>(values));
  }
  // Of texts, a vector of them; their bytes end with NUL.
  static Result<Tensor> from_texts(Texts texts) {
    std::vector<rheos_string> strings;
    for (const char *text : texts) strings.push_back(string_of(text));
    return from_values<rheos_string>({static_cast<int64_t>(strings.size())}, strings);
  }
  // A vector of a list of values, a scalar of one value.
  template <class T>
  static Result<Tensor> of(std::initializer_list<T> values) {
    return from_values<T>({static_cast<int64_t>(values.size())}, values);
  }
  template <class T, class = std::enable_if_t<dtype_of<T> != RHEOS_INVALID_DTYPE>>
  static Result<Tensor> of(const T &value) {
    return from_values<T>({}, Span<const T>(&value, 1));
  }
  static Result<Tensor> of(Text text) { return of<rheos_string>(string_of(text)); }
  static Result<Tensor> of(std::initializer_list<const char *> texts) { return from_texts(texts); }
  // Over the caller's bytes.
  static Result<Tensor> borrow_data(rheos_dtype dtype, const Shape &shape, void *data,
                                    void (*release)(void *argument) = nullptr,
                                    void *argument = nullptr) {
    return detail::handle_of<Tensor>([&](rheos_tensor **out) {
      return rheos_tensor_borrow(dtype, shape, data, release, argument, out);
    });
  }
  // The bytes of a TensorProto; of a .npy file.
  static Result<Tensor> from_proto(BytesView bytes) {
    return detail::handle_of<Tensor>([&](rheos_tensor **out) {
      return rheos_tensor_from_proto(bytes.data(), bytes.size(), out);
    });
  }
  static Result<Tensor> npy_decode(BytesView bytes) {
    return detail::handle_of<Tensor>(
        [&](rheos_tensor **out) { return rheos_npy_decode(bytes.data(), bytes.size(), out); });
  }
  Result<Bytes> npy_encode() const {
    return detail::bytes_of(
        [this](void **out, size_t *size) { return rheos_npy_encode(handle_, out, size); });
  }

  Result<Tensor> reshaped(const Shape &shape) const {
    return detail::handle_of<Tensor>(
        [&](rheos_tensor **out) { return rheos_tensor_reshaped(handle_, shape, out); });
  }
  Result<Tensor> filled(const Shape &shape) const {
    return detail::handle_of<Tensor>(
        [&](rheos_tensor **out) { return rheos_tensor_filled(handle_, shape, out); });
  }
  Result<Tensor> copy() const {
    return detail::handle_of<Tensor>(
        [this](rheos_tensor **out) { return rheos_tensor_copy(handle_, out); });
  }

 private:
  static rheos_string string_of(const char *text) {
    return {const_cast<char *>(text), std::char_traits<char>::length(text)};
  }
};

inline std::string to_string(const rheos_string &text) { return {text.data, text.size_bytes}; }

// ---- Lists of tensors: a Tensor is a pointer and nothing else

using Tensors = Span<const Tensor>;

namespace detail {
static_assert(sizeof(Tensor) == sizeof(rheos_tensor *) && std::is_standard_layout_v<Tensor>);
inline rheos_tensor *const *pointers(Tensors tensors) {
  return reinterpret_cast<rheos_tensor *const *>(tensors.data());
}
// Where C sets `tensors`, all of which are empty.
inline rheos_tensor **places(Span<Tensor> tensors) {
  return reinterpret_cast<rheos_tensor **>(tensors.data());
}
// As many tensors as `make` sets in an array that it is given.
template <class Make>
Result<std::vector<Tensor>> tensors_of(size_t count, Make &&make) {
  std::vector<Tensor> tensors(count);
  rheos_status *status = make(places(tensors));
  return made<std::vector<Tensor>>(status, tensors);
}
}  // namespace detail

RHEOS_CPP_END

#endif  // RHEOS_CPP_TENSOR_HPP
