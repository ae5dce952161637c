#include "ops/kit/elementwise.h"

#define FAMILIES(FAMILY) \
  FAMILY(unary)          \
  FAMILY(binary)         \
  FAMILY(compare) FAMILY(cast) FAMILY(activation) FAMILY(special_unary) FAMILY(betainc)

#define FAMILY(name) extern const rheos__formulas rheos__##name##_formulas;
FAMILIES(FAMILY)
#undef FAMILY

const rheos__formula *rheos__formula_of(rheos__loop loop) {
  static const rheos__formulas *const families[] = {
#define FAMILY(name) &rheos__##name##_formulas,
      FAMILIES(FAMILY)
#undef FAMILY
  };
  for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
    for (size_t i = 0; i < families[f]->count; i++) {
      if (families[f]->items[i].loop == loop) return &families[f]->items[i];
    }
  }
  return NULL;
}
