// Values of attributes in one line; long ones are cut.
#include "attribute.h"

#include <string.h>

#include "elements.h"
#include "message.h"
#include "text.h"
#include "view.h"

enum { MOST_ELEMENTS = 10, MOST_ITEMS = 10 };

static void print_text(FILE *out, const char *text) { text_print(out, text, strlen(text)); }

static void print_shape(FILE *out, const Tensorflow__TensorShapeProto *proto) {
  char text[192];
  const rheos_shape shape = message_shape(proto);
  rheos_shape_format(&shape, text, sizeof text);
  fputs(text, out);
}

static void print_tensor(FILE *out, const Tensorflow__TensorProto *proto) {
  fprintf(out, "%s ", view_dtype_name(proto->dtype));
  print_shape(out, proto->tensor_shape);
  rheos_tensor *tensor = message_tensor(proto);
  if (tensor == NULL) return;
  fputs("  ", out);
  elements_print(out, tensor, MOST_ELEMENTS);
  rheos_tensor_unref(tensor);
}

static void print_bytes(FILE *out, const ProtobufCBinaryData *bytes) {
  fputc('"', out);
  text_print(out, (const char *)bytes->data, bytes->len);
  fputc('"', out);
}

static void print_list(FILE *out, const Tensorflow__AttrValue__ListValue *list) {
  const size_t counts[] = {list->n_s,    list->n_i,     list->n_f,      list->n_b,
                           list->n_type, list->n_shape, list->n_tensor, list->n_func};
  fputc('[', out);
  for (size_t kind = 0; kind < sizeof counts / sizeof counts[0]; kind++) {
    for (size_t i = 0; i < counts[kind]; i++) {
      if (i > 0) fputs(", ", out);
      if (i == MOST_ITEMS && counts[kind] > MOST_ITEMS + 1) {
        fprintf(out, "... %zu in all", counts[kind]);
        break;
      }
      switch (kind) {
        case 0: print_bytes(out, &list->s[i]); break;
        case 1: fprintf(out, "%lld", (long long)list->i[i]); break;
        case 2: text_print_number(out, list->f[i], true); break;
        case 3: fputs(list->b[i] ? "true" : "false", out); break;
        case 4: fputs(view_dtype_name(list->type[i]), out); break;
        case 5: print_shape(out, list->shape[i]); break;
        case 6: print_tensor(out, list->tensor[i]); break;
        default: print_text(out, list->func[i]->name); break;
      }
    }
  }
  fputc(']', out);
}

void attribute_print(FILE *out, const Tensorflow__AttrValue *value) {
  switch (value != NULL ? value->value_case : TENSORFLOW__ATTR_VALUE__VALUE__NOT_SET) {
    case TENSORFLOW__ATTR_VALUE__VALUE_S: print_bytes(out, &value->s); break;
    case TENSORFLOW__ATTR_VALUE__VALUE_I: fprintf(out, "%lld", (long long)value->i); break;
    case TENSORFLOW__ATTR_VALUE__VALUE_F: text_print_number(out, value->f, true); break;
    case TENSORFLOW__ATTR_VALUE__VALUE_B: fputs(value->b ? "true" : "false", out); break;
    case TENSORFLOW__ATTR_VALUE__VALUE_TYPE: fputs(view_dtype_name(value->type), out); break;
    case TENSORFLOW__ATTR_VALUE__VALUE_SHAPE: print_shape(out, value->shape); break;
    case TENSORFLOW__ATTR_VALUE__VALUE_TENSOR: print_tensor(out, value->tensor); break;
    case TENSORFLOW__ATTR_VALUE__VALUE_FUNC:
      fputs("function ", out);
      print_text(out, value->func->name);
      break;
    case TENSORFLOW__ATTR_VALUE__VALUE_PLACEHOLDER:
      fputc('$', out);
      print_text(out, value->placeholder);
      break;
    case TENSORFLOW__ATTR_VALUE__VALUE_LIST: print_list(out, value->list); break;
    default: fputs("(nothing)", out); break;
  }
}
