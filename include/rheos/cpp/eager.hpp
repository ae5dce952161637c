// Eager execution of C++: operations that run at once, regions, tapes.
#ifndef RHEOS_CPP_EAGER_HPP
#define RHEOS_CPP_EAGER_HPP

#include <rheos/cpp/session.hpp>

RHEOS_CPP_BEGIN

// ---- Regions

class RegionRef : public Handle<rheos_region> {
 public:
  using Handle::Handle;
  int32_t num_inputs() const { return rheos_region_num_inputs(handle_); }
  int32_t num_outputs() const { return rheos_region_num_outputs(handle_); }
  // As many inputs as it has, or RHEOS_INVALID_ARGUMENT.
  Result<std::vector<Tensor>> run(Tensors inputs, const rheos_run_options &options = {}) const {
    return detail::tensors_of(static_cast<size_t>(num_outputs()), [&](rheos_tensor **out) {
      return inputs.size() != static_cast<size_t>(num_inputs())
                 ? rheos_status_new(RHEOS_INVALID_ARGUMENT, "%zu inputs for %d", inputs.size(),
                                    static_cast<int>(num_inputs()))
                 : rheos_region_run(handle_, detail::pointers(inputs), out, &options);
    });
  }
  int64_t cost_ns() const;                 // <rheos/cpp/front_end.hpp>
  rheos_attr_value attr(Text name) const;  // likewise
};

class Region : public Counted<RegionRef, rheos_region_ref, rheos_region_unref> {
 public:
  using Counted::Counted;
  Region(Counted &&region) : Counted(std::move(region)) {}
};

// ---- Eager contexts

class EagerRef : public Handle<rheos_eager> {
 public:
  using Handle::Handle;
  Result<std::string> waiting() const {
    return detail::text_of([this](char **out) { return rheos_eager_waiting(handle_, out); });
  }
  Graph graph() const { return Graph::borrow(rheos_eager_graph(handle_)); }
  Host host() const { return Host::borrow(rheos_eager_host(handle_)); }
  void clear() { rheos_eager_clear(handle_); }

  // The operation's outputs: `num_outputs` of them, empty ones at the end where it has less.
  Result<std::vector<Tensor>> execute(Text type, Tensors inputs, Attrs attrs = {},
                                      size_t num_outputs = 1, Text device = {}) const {
    const rheos_eager_op op = op_of(type, inputs, attrs, device);
    return detail::tensors_of(num_outputs, [&](rheos_tensor **out) {
      return rheos_eager_execute(handle_, &op, out, num_outputs);
    });
  }
  // Of an operation with one output.
  Result<Tensor> execute_one(Text type, Tensors inputs, Attrs attrs = {}, Text device = {}) const {
    return detail::only(execute(type, inputs, attrs, 1, device));
  }
  Result<Region> region(Text type, Tensors inputs, Attrs attrs = {}, Text device = {}) const {
    const rheos_eager_op op = op_of(type, inputs, attrs, device);
    return detail::handle_of<Region>(
        [&](rheos_region **out) { return rheos_eager_region(handle_, &op, out); });
  }
  // Of any graph.
  Result<Region> region(Outputs feeds, Outputs fetches, Operations targets = {}) const {
    return detail::handle_of<Region>([&](rheos_region **out) {
      return rheos_region_new(handle_, feeds.data(), feeds.size(), fetches.data(), fetches.size(),
                              targets.data(), targets.size(), out);
    });
  }
  // The handle of a new variable.
  Result<Tensor> variable(rheos_dtype dtype, Text name = {}) const {
    return detail::handle_of<Tensor>(
        [&](rheos_tensor **out) { return rheos_eager_variable(handle_, dtype, name, out); });
  }
  // The tensor in a device's memory.
  Result<Tensor> copy(const TensorRef &tensor, Text device) const {
    return detail::handle_of<Tensor>(
        [&](rheos_tensor **out) { return rheos_eager_copy(handle_, tensor.get(), device, out); });
  }

  Result<Watch> watch(const rheos_watch_options &options) const {
    return detail::handle_of<Watch>(
        [&](rheos_watch **out) { return rheos_eager_watch(handle_, &options, out); });
  }

  // Tells tapes of what the program has computed. `backward` is kept until no tape needs it, and is
  // called as backward(Tensors out_gradients, Span<rheos_tensor_gradient> in_gradients): it sets
  // these, references of its own, and throws, or gives a Status, where it fails.
  template <class Backward>
  Result<void> record(Tensors inputs, Tensors outputs, Backward backward) const {
    auto *kept = new Backward(std::move(backward));
    return detail::done(rheos_eager_record(
        handle_, detail::pointers(inputs), inputs.size(), detail::pointers(outputs), outputs.size(),
        [](void *argument, rheos_tensor *const *out_gradients, size_t num_outputs,
           rheos_tensor_gradient *in_gradients, size_t num_inputs) {
          return detail::status_of([&] {
            return (*static_cast<Backward *>(argument))(
                Tensors(reinterpret_cast<const Tensor *>(out_gradients), num_outputs),
                Span<rheos_tensor_gradient>(in_gradients, num_inputs));
          });
        },
        kept, [](void *argument) { delete static_cast<Backward *>(argument); }));
  }
  // <rheos/cpp/front_end.hpp>
  Result<void> remove_function(Text name);
  Result<void> remove_functions(Texts names);
  void sweep();
  bool is_watched(Tensors tensors) const;

 private:
  static rheos_eager_op op_of(Text type, Tensors inputs, Attrs attrs, Text device) {
    return {type, detail::pointers(inputs), inputs.size(), attrs.data(), attrs.size(), device};
  }
};

class Eager : public Owned<EagerRef, rheos_eager_free> {
 public:
  using Owned::Owned;
  static Result<Eager> make(const rheos_eager_options &options = {}) {
    return detail::handle_of<Eager>(
        [&](rheos_eager **out) { return rheos_eager_new(&options, out); });
  }
};

// ---- Tapes

// A gradient: dense, or rows at `indices` of a tensor of shape `dense_shape`. All empty: none.
struct TensorGradient {
  Tensor values, indices, dense_shape;
};

class Tape : public Owned<Handle<rheos_tape>, rheos_tape_free> {
 public:
  using Owned::Owned;
  static Result<Tape> make(const EagerRef &eager) {
    return detail::handle_of<Tape>(
        [&](rheos_tape **out) { return rheos_tape_new(eager.get(), out); });
  }
  Result<void> record() { return detail::done(rheos_tape_record(handle_)); }
  void stop() { rheos_tape_stop(handle_); }
  void reset() { rheos_tape_reset(handle_); }
  Result<void> watch(const TensorRef &tensor) {
    return detail::done(rheos_tape_watch(handle_, tensor.get()));
  }
  bool is_watched(const TensorRef &tensor) const {
    return rheos_tape_is_watched(handle_, tensor.get());
  }
  // By source. `output_gradients` weigh the targets, one for each (empty: a one); none: ones.
  Result<std::vector<TensorGradient>> gradient(Tensors targets, Tensors sources,
                                               Tensors output_gradients = {}) const {
    static_assert(sizeof(TensorGradient) == sizeof(rheos_tensor_gradient));
    std::vector<TensorGradient> gradients(sources.size());
    rheos_status *status =
        !output_gradients.empty() && output_gradients.size() != targets.size()
            ? rheos_status_new(RHEOS_INVALID_ARGUMENT, "%zu gradients for %zu targets",
                               output_gradients.size(), targets.size())
            : rheos_tape_gradient(
                  handle_, detail::pointers(targets), targets.size(),
                  output_gradients.empty() ? nullptr : detail::pointers(output_gradients),
                  detail::pointers(sources), sources.size(),
                  reinterpret_cast<rheos_tensor_gradient *>(gradients.data()));
    return detail::made<std::vector<TensorGradient>>(status, gradients);
  }
};

RHEOS_CPP_END

#endif  // RHEOS_CPP_EAGER_HPP
