// Datasets of C++: a Dataset is an output of a graph; what makes one of another adds operations.
//
//   rheos::Dataset d = rheos::Dataset::records(s, {"a.tfrecord"}).shuffle(s, 10000, 1).batch(s,
//   32); auto batches = d.iterate(session); while (auto batch = batches.next()) ...
#ifndef RHEOS_CPP_DATASET_HPP
#define RHEOS_CPP_DATASET_HPP

#include <rheos/cpp/scope.hpp>
#include <rheos/cpp/session.hpp>

RHEOS_CPP_BEGIN

class DatasetIterator : public Owned<Handle<rheos_dataset_iterator>, rheos_dataset_iterator_free> {
 public:
  using Owned::Owned;
  DatasetIterator(DatasetIterator &&) = default;
  DatasetIterator &operator=(DatasetIterator &&) = default;
  DatasetIterator(rheos_dataset_iterator *taken, size_t num_components)
      : Owned(taken), num_components_(num_components) {}

  // The components of the next element; nothing at the end.
  Result<std::optional<std::vector<Tensor>>> next(const rheos_run_options &options = {}) {
    std::optional<std::vector<Tensor>> element(std::in_place, num_components_);
    bool end = false;
    rheos_status *status =
        rheos_dataset_iterator_next(handle_, detail::places(*element), &end, &options);
    if (end) element.reset();
    return detail::made<std::optional<std::vector<Tensor>>>(status, element);
  }
  Result<std::string> explain() const {
    return detail::text_of([this](char **out) { return rheos_dataset_explain(handle_, out); });
  }

 private:
  size_t num_components_ = 0;
};

// A dtype and what is known of a shape: a component of what a program's function gives.
struct Component {
  rheos_dtype dtype;
  Shape shape;
};

class Dataset : public Output {
 public:
  using Output::Output;

  static Dataset tensors(At s, Outputs components) {
    return rheos_dataset_tensors(s, components.data(), components.size());
  }
  static Dataset slices(At s, Outputs components) {
    return rheos_dataset_slices(s, components.data(), components.size());
  }
  static Dataset range(At s, int64_t start, int64_t stop, int64_t step = 1) {
    return rheos_dataset_range(s, start, stop, step);
  }
  static Dataset records(At s, Texts paths, Text compression = {}) {
    return rheos_dataset_records(s, paths.data(), paths.size(), compression);
  }
  static Dataset lines(At s, Texts paths, Text compression = {}) {
    return rheos_dataset_lines(s, paths.data(), paths.size(), compression);
  }
  static Dataset program(At s, Text token, Span<const Component> components) {
    const Split split(components);
    return rheos_dataset_program(s, token, split.dtypes.data(), split.shapes.data(),
                                 components.size());
  }

  Dataset map(At s, const FunctionRef &function, int64_t num_parallel = 0) const {
    return rheos_dataset_map(s, *this, function.get(), num_parallel);
  }
  Dataset map_program(At s, Text token, Span<const Component> components,
                      int64_t num_parallel = 0) const {
    const Split split(components);
    return rheos_dataset_map_program(s, *this, token, split.dtypes.data(), split.shapes.data(),
                                     components.size(), num_parallel);
  }
  Dataset filter(At s, const FunctionRef &function) const {
    return rheos_dataset_filter(s, *this, function.get());
  }
  Dataset interleave(At s, const FunctionRef &function, int64_t cycle, int64_t block = 1,
                     int64_t num_parallel = 0) const {
    return rheos_dataset_interleave(s, *this, function.get(), cycle, block, num_parallel);
  }
  Dataset shuffle(At s, int64_t buffer, int64_t seed = 0) const {
    return rheos_dataset_shuffle(s, *this, buffer, seed);
  }
  Dataset repeat(At s, int64_t count = -1) const { return rheos_dataset_repeat(s, *this, count); }
  Dataset take(At s, int64_t count) const { return rheos_dataset_take(s, *this, count); }
  Dataset skip(At s, int64_t count) const { return rheos_dataset_skip(s, *this, count); }
  Dataset batch(At s, int64_t size, bool drop_remainder = false) const {
    return rheos_dataset_batch(s, *this, size, drop_remainder);
  }
  Dataset prefetch(At s, int64_t buffer = RHEOS_DATASET_AUTOTUNE) const {
    return rheos_dataset_prefetch(s, *this, buffer);
  }
  Dataset cache(At s) const { return rheos_dataset_cache(s, *this); }

  size_t num_components() const { return rheos_dataset_num_components(*this); }
  rheos_dtype component_dtype(size_t component) const {
    return rheos_dataset_dtype(*this, component);
  }
  Shape component_shape(size_t component) const { return rheos_dataset_shape(*this, component); }

  // The session has to outlive the iterator.
  Result<DatasetIterator> iterate(const SessionRef &session) const {
    rheos_dataset_iterator *iterator = nullptr;
    rheos_status *status = rheos_dataset_iterator_new(session.get(), *this, &iterator);
    DatasetIterator owned(iterator, num_components());
    return detail::made<DatasetIterator>(status, owned);
  }

 private:
  struct Split {
    explicit Split(Span<const Component> components) {
      for (const Component &component : components) {
        dtypes.push_back(component.dtype);
        shapes.push_back(component.shape);
      }
    }
    std::vector<rheos_dtype> dtypes;
    std::vector<rheos_shape> shapes;
  };
};

RHEOS_CPP_END

#endif  // RHEOS_CPP_DATASET_HPP
