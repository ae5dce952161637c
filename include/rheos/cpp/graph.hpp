// Graphs of C++: operations, outputs, attributes, definitions of ops, collections, variables,
// functions of a library, and graphs as messages and files.
#ifndef RHEOS_CPP_GRAPH_HPP
#define RHEOS_CPP_GRAPH_HPP

#include <rheos/cpp/tensor.hpp>

RHEOS_CPP_BEGIN

class Operation;
class Variable;

// ---- Outputs and operations: small values; their graph must be alive

class Output : public rheos_output {
 public:
  Output() : rheos_output{nullptr, 0, 0} {}
  Output(const rheos_output &output) : rheos_output(output) {}
  explicit operator bool() const { return graph != nullptr; }

  inline Operation operation() const;
  inline Variable variable() const;  // none if it is neither the handle nor the value of one
  rheos_dtype dtype() const { return rheos_output_dtype(*this); }
  Shape shape() const { return rheos_output_shape(*this); }
  Result<void> set_shape(const Shape &shape) {
    return detail::done(rheos_output_set_shape(*this, shape));
  }
  Result<std::vector<rheos_consumer>> consumers() const {
    size_t count = 0;
    rheos_status *status = rheos_output_consumers(*this, nullptr, 0, &count);
    std::vector<rheos_consumer> consumers(count);
    if (status == nullptr) {
      status = rheos_output_consumers(*this, consumers.data(), count, &count);
    }
    return detail::made<std::vector<rheos_consumer>>(status, consumers);
  }
};
using Outputs = Span<const rheos_output>;

class Operation : public rheos_operation {
 public:
  Operation() : rheos_operation{nullptr, 0} {}
  Operation(const rheos_operation &operation) : rheos_operation(operation) {}
  explicit operator bool() const { return graph != nullptr; }

  Output output(int32_t index) const { return rheos_operation_output(*this, index); }
  std::string name() const {
    return detail::written(
        [this](char *text, size_t size) { return rheos_operation_name(*this, text, size); });
  }
  const char *type() const { return rheos_operation_type(*this); }
  const char *device() const { return rheos_operation_device(*this); }
  int32_t num_inputs() const { return rheos_operation_num_inputs(*this); }
  Output input(int32_t index) const { return rheos_operation_input(*this, index); }
  int32_t num_control_inputs() const { return rheos_operation_num_control_inputs(*this); }
  Operation control_input(int32_t index) const {
    return rheos_operation_control_input(*this, index);
  }
  int32_t num_outputs() const { return rheos_operation_num_outputs(*this); }
  Result<std::vector<Operation>> control_outputs() const {
    size_t count = 0;
    rheos_status *status = rheos_operation_control_outputs(*this, nullptr, 0, &count);
    std::vector<rheos_operation> found(count);
    if (status == nullptr) {
      status = rheos_operation_control_outputs(*this, found.data(), count, &count);
    }
    std::vector<Operation> operations(found.begin(), found.end());
    return detail::made<std::vector<Operation>>(status, operations);
  }
  int32_t num_attrs() const { return rheos_operation_num_attrs(*this); }
  rheos_attr attr_at(int32_t index) const { return rheos_operation_attr_at(*this, index); }
  rheos_attr_value attr(Text name) const { return rheos_operation_attr(*this, name); }
  const rheos_op_def *op_def() const { return rheos_operation_op_def(*this); }
  bool is_fetchable() const { return rheos_operation_is_fetchable(*this); }
  bool is_feedable() const { return rheos_operation_is_feedable(*this); }
  Result<Bytes> to_node_def() const {
    return detail::bytes_of(
        [this](void **out, size_t *size) { return rheos_operation_to_node_def(*this, out, size); });
  }

  // The file and line of the program that made it; a file that is NULL where they are not known.
  std::pair<const char *, int32_t> source() const {
    std::pair<const char *, int32_t> source = {nullptr, 0};
    rheos_operation_source(*this, &source.first, &source.second);
    return source;
  }

  Result<void> set_device(Text device) {
    return detail::done(rheos_operation_set_device(*this, device));
  }
  Result<void> add_control_input(const rheos_operation &from) {
    return detail::done(rheos_operation_add_control_input(*this, from));
  }
  Result<void> clear_control_inputs() {
    return detail::done(rheos_operation_clear_control_inputs(*this));
  }
  Result<void> set_input(int32_t input, const rheos_output &output) {
    return detail::done(rheos_operation_set_input(*this, input, output));
  }
  Result<void> close_loop(int32_t input, const rheos_output &next) {
    return detail::done(rheos_operation_close_loop(*this, input, next));
  }
};
using Operations = Span<const rheos_operation>;

Operation Output::operation() const { return rheos_output_operation(*this); }

class Variable : public rheos_variable {
 public:
  Variable() : rheos_variable{} {}
  Variable(const rheos_variable &variable) : rheos_variable(variable) {}
  explicit operator bool() const { return graph != nullptr; }

  bool is_resource() const { return rheos_variable_is_resource(*this); }
  rheos_dtype dtype() const { return rheos_variable_dtype(*this); }
  Shape static_shape() const { return rheos_variable_static_shape(*this); }
  // The name of the whole, and where in it; nothing if the variable is a whole.
  std::optional<std::pair<const char *, const char *>> slice() const {
    std::pair<const char *, const char *> texts = {nullptr, nullptr};
    if (!rheos_variable_slice(*this, &texts.first, &texts.second)) return std::nullopt;
    return texts;
  }
};
using Variables = Span<const rheos_variable>;

Variable Output::variable() const { return rheos_variable_of(*this); }

// ---- Attributes, for operations that are made by name

inline rheos_attr attr_int(Text name, int64_t value) { return rheos_attr_int(name, value); }
inline rheos_attr attr_float(Text name, float value) { return rheos_attr_float(name, value); }
inline rheos_attr attr_bool(Text name, bool value) { return rheos_attr_bool(name, value); }
inline rheos_attr attr_type(Text name, rheos_dtype value) { return rheos_attr_type(name, value); }
inline rheos_attr attr_string(Text name, BytesView value) {
  return rheos_attr_string(name, static_cast<const char *>(value.data()), value.size());
}
inline rheos_attr attr_shape(Text name, const Shape &value) {
  return rheos_attr_shape(name, &value);
}
inline rheos_attr attr_tensor(Text name, TensorRef value) {
  return rheos_attr_tensor(name, value.get());
}
inline rheos_attr attr_func(Text name, const rheos_func &value) {
  return rheos_attr_func(name, &value);
}
inline rheos_attr attr_ints(Text name, Span<const int64_t> values) {
  return rheos_attr_ints(name, values.data(), static_cast<int32_t>(values.size()));
}
inline rheos_attr attr_types(Text name, Span<const rheos_dtype> values) {
  return rheos_attr_types(name, values.data(), static_cast<int32_t>(values.size()));
}
using Attrs = Span<const rheos_attr>;

// ---- Definitions of ops; they belong to the library or to a graph

inline int32_t num_ops() { return rheos_num_ops(); }
inline const char *op_type(int32_t index) { return rheos_op_type(index); }
inline const char *op_signature(Text type) { return rheos_op_signature(type); }
inline bool op_has_gradient(Text type) { return rheos_op_has_gradient(type); }
inline Result<Bytes> op_to_op_def(Text type) {
  return detail::bytes_of(
      [&](void **out, size_t *size) { return rheos_op_to_op_def(type, out, size); });
}

class OpDef {
 public:
  OpDef(const rheos_op_def *op = nullptr) : op_(op) {}
  // One of the library's.
  static OpDef find(Text type) { return rheos_op_def_find(nullptr, type); }
  const rheos_op_def *get() const { return op_; }
  explicit operator bool() const { return op_ != nullptr; }

  const char *type() const { return rheos_op_def_type(op_); }
  const char *description() const { return rheos_op_def_description(op_); }
  bool is_stateful() const { return rheos_op_def_is_stateful(op_); }
  bool is_commutative() const { return rheos_op_def_is_commutative(op_); }
  bool is_aggregate() const { return rheos_op_def_is_aggregate(op_); }
  bool allows_uninitialized_input() const { return rheos_op_def_allows_uninitialized_input(op_); }
  bool has_kernel() const { return rheos_op_def_has_kernel(op_); }
  int32_t num_inputs() const { return rheos_op_def_num_inputs(op_); }
  rheos_op_argument input(int32_t index) const { return rheos_op_def_input(op_, index); }
  int32_t num_outputs() const { return rheos_op_def_num_outputs(op_); }
  rheos_op_argument output(int32_t index) const { return rheos_op_def_output(op_, index); }
  int32_t num_attrs() const { return rheos_op_def_num_attrs(op_); }
  rheos_op_attr attr(int32_t index) const { return rheos_op_def_attr(op_, index); }

 private:
  const rheos_op_def *op_;
};

// ---- Graphs

class GraphRef : public Handle<rheos_graph> {
 public:
  using Handle::Handle;

  int32_t num_operations() const { return rheos_graph_num_operations(handle_); }
  Operation operation(Text name) const { return rheos_graph_operation(handle_, name); }
  Operation operation_at(int32_t id) const { return rheos_operation{handle_, id}; }
  Result<Output> output(Text name) const {
    Output output;
    rheos_status *status = rheos_graph_output(handle_, name, &output);
    return detail::made<Output>(status, output);
  }
  void set_seed(bool has_seed, int64_t seed) { rheos_graph_set_seed(handle_, has_seed, seed); }
  OpDef op_def(Text type) const { return rheos_op_def_find(handle_, type); }

  // Where sessions on these devices place the operations.
  Result<Array<rheos_placement>> place(const rheos_placement_options &options = {}) const {
    return detail::array_of<rheos_placement>([&](rheos_placement **out, size_t *count) {
      return rheos_graph_place(handle_, &options, out, count);
    });
  }

  // Collections
  Result<void> add_to_collection(Text key, const rheos_item &item) {
    return detail::done(rheos_graph_add_to_collection(handle_, key, item));
  }
  int32_t collection_size(Text key) const { return rheos_graph_collection_size(handle_, key); }
  rheos_item collection_item(Text key, int32_t index) const {
    return rheos_graph_collection_item(handle_, key, index);
  }
  int32_t num_collections() const { return rheos_graph_num_collections(handle_); }
  const char *collection_key(int32_t index) const {
    return rheos_graph_collection_key(handle_, index);
  }

  // Variables
  void use_resource_variables(bool use) { rheos_graph_use_resource_variables(handle_, use); }
  int32_t num_variables() const { return rheos_graph_num_variables(handle_); }
  Variable variable(int32_t index) const { return rheos_graph_variable(handle_, index); }
  Array<rheos_variable> collect_variables(Text key) const {
    rheos_variable *variables = nullptr;
    const size_t count = rheos_graph_collect_variables(handle_, key, &variables);
    return {variables, count};
  }
  // `variable` none: what the optimizer keeps for all.
  Variable optimizer_slot(const rheos_variable &variable, Text optimizer_name,
                          Text slot_name) const {
    return rheos_optimizer_slot(handle_, variable, optimizer_name, slot_name);
  }

  // The functions of its library
  size_t num_functions() const { return rheos_graph_num_functions(handle_); }
  const char *function_name(size_t index) const {
    return rheos_graph_function_name(handle_, index);
  }
  const char *function_gradient(Text name) const {
    return rheos_graph_function_gradient(handle_, name);
  }
  Result<Bytes> function_def(Text name) const {
    return detail::bytes_of([&](void **out, size_t *size) {
      return rheos_graph_function_def(handle_, name, out, size);
    });
  }
  Result<void> set_function_gradient(Text function, Text gradient) {
    return detail::done(rheos_graph_set_function_gradient(handle_, function, gradient));
  }
  Result<void> remove_function(Text name) {
    return detail::done(rheos_graph_remove_function(handle_, name));
  }

  // Messages and files
  Result<Bytes> to_graph_def() const {
    return detail::bytes_of(
        [this](void **out, size_t *size) { return rheos_graph_to_graph_def(handle_, out, size); });
  }
  Result<Bytes> to_graph_def_from(int32_t first) const {
    return detail::bytes_of([&](void **out, size_t *size) {
      return rheos_graph_to_graph_def_from(handle_, first, out, size);
    });
  }
  Result<void> write(Text path, size_t side_file_bytes = 0) const {
    return detail::done(rheos_graph_write(handle_, path, side_file_bytes));
  }
  Result<Bytes> to_meta_graph_def(const rheos_meta_graph_options &options = {}) const {
    return detail::bytes_of([&](void **out, size_t *size) {
      return rheos_graph_to_meta_graph_def(handle_, &options, out, size);
    });
  }
  Result<void> write_meta_graph(const rheos_meta_graph_options &options, Text path,
                                bool as_text = false) const {
    return detail::done(rheos_graph_write_meta_graph(handle_, &options, path, as_text));
  }
};

class Graph : public Counted<GraphRef, rheos_graph_ref, rheos_graph_unref> {
 public:
  using Counted::Counted;
  Graph() : Counted(detail::there(rheos_graph_new())) {}
  Graph(Counted &&graph) : Counted(std::move(graph)) {}

  // Of a GraphDef file.
  static Result<Graph> read(Text path) {
    return detail::handle_of<Graph>([&](rheos_graph **out) { return rheos_graph_read(path, out); });
  }
};

// ---- Messages without a graph

inline Result<Bytes> graph_def_read(Text path) {
  return detail::bytes_of(
      [&](void **out, size_t *size) { return rheos_graph_def_read(path, out, size); });
}
inline Result<Bytes> graph_def_strip(BytesView graph_def, Texts outputs) {
  return detail::bytes_of([&](void **out, size_t *size) {
    return rheos_graph_def_strip(graph_def.data(), graph_def.size(), outputs.data(), outputs.size(),
                                 out, size);
  });
}
// What is below a name scope, and the inputs that come from elsewhere.
struct GraphDefPart {
  Bytes graph_def;
  Array<char *> unbound_inputs;
};
inline Result<GraphDefPart> graph_def_below(BytesView graph_def, Text scope) {
  void *bytes = nullptr;
  char **unbound = nullptr;
  size_t size = 0, num_unbound = 0;
  rheos_status *status = rheos_graph_def_below(graph_def.data(), graph_def.size(), scope, &bytes,
                                               &size, &unbound, &num_unbound);
  GraphDefPart part = {{static_cast<char *>(bytes), size}, {unbound, num_unbound}};
  return detail::made<GraphDefPart>(status, part);
}
inline Result<Bytes> graph_def_clear_devices(BytesView graph_def) {
  return detail::bytes_of([&](void **out, size_t *size) {
    return rheos_graph_def_clear_devices(graph_def.data(), graph_def.size(), out, size);
  });
}
inline Result<Bytes> graph_def_remove_training_nodes(BytesView graph_def,
                                                     Texts protected_nodes = {}) {
  return detail::bytes_of([&](void **out, size_t *size) {
    return rheos_graph_def_remove_training_nodes(graph_def.data(), graph_def.size(),
                                                 protected_nodes.data(), protected_nodes.size(),
                                                 out, size);
  });
}
inline Result<Bytes> graph_def_strip_default_attrs(BytesView graph_def) {
  return detail::bytes_of([&](void **out, size_t *size) {
    return rheos_graph_def_strip_default_attrs(graph_def.data(), graph_def.size(), out, size);
  });
}
// Without what can go; `out_num_removed`, which may be NULL, gets the number of nodes that went.
inline Result<Bytes> graph_def_mend(BytesView graph_def, Texts outputs = {},
                                    int32_t *out_num_removed = nullptr) {
  int32_t num_removed = 0;
  return detail::bytes_of([&](void **out, size_t *size) {
    rheos_status *status = rheos_graph_def_mend(
        graph_def.data(), graph_def.size(), outputs.data(), outputs.size(), out, size,
        out_num_removed != nullptr ? out_num_removed : &num_removed);
    return status;
  });
}
inline Result<std::string> message_to_text(Text type, BytesView message) {
  return detail::text_of([&](char **out) {
    size_t size = 0;
    return rheos_message_to_text(type, message.data(), message.size(), out, &size);
  });
}
inline Result<Bytes> message_from_text(Text type, BytesView text) {
  return detail::bytes_of([&](void **out, size_t *size) {
    return rheos_message_from_text(type, static_cast<const char *>(text.data()), text.size(), out,
                                   size);
  });
}
inline Result<void> message_check(Text type, BytesView message) {
  return detail::done(rheos_message_check(type, message.data(), message.size()));
}

RHEOS_CPP_END

#endif  // RHEOS_CPP_GRAPH_HPP
