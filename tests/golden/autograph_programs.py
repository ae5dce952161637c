"""Small functions for each construct that AutoGraph converts, with arguments.

The module runs on TensorFlow and on Rheos: `tf` is set from outside. `given(...)` notes a function
with its calls; in a call an `i(...)` or `f(...)` or `b(...)` stands for a tensor of int32, float32
or bool, everything else is passed as it is.
"""

import functools

import numpy as np

tf = None
CASES = []


def i(value):
    return np.asarray(value, np.int32)


def f(value):
    return np.asarray(value, np.float32)


def b(value):
    return np.asarray(value, bool)


def given(*calls):
    """Notes a function with the arguments of its calls; of a single argument, that."""

    def note(function):
        every = [call if isinstance(call, tuple) else (call,) for call in calls]
        CASES.append((function, every))
        return function

    return note


SIGNS = (i(3), i(0), i(-4))
COUNTS = (i(0), i(1), i(5))


# ---- if


@given(*SIGNS, 3, -3)
def if_else(x):
    if x > 0:
        y = x * 2
    else:
        y = -x
    return y


@given(*SIGNS, 2, -2)
def if_only(x):
    if x < 0:
        x = -x
    return x


@given(*SIGNS)
def if_elif(x):
    if x > 0:
        kind = 1
    elif tf.equal(x, 0):
        kind = 0
    else:
        kind = -1
    return kind


@given(*SIGNS, i(7))
def if_nested(x):
    if x > 0:
        if x > 5:
            y = 10
        else:
            y = 20
    else:
        y = 30
    return y + x


@given((i(1), i(2)), (i(2), i(1)))
def if_two_variables(x, y):
    if x < y:
        low, high = x, y
    else:
        low, high = y, x
    return low, high


@given((i(3), True), (i(3), False), (i(-3), True))
def if_python_in_tensor(x, flag):
    if x > 0:
        if flag:
            x = x + 10
        else:
            x = x + 20
    return x


@given((i(3), 1), (i(3), 0))
def if_tensor_in_python(x, flag):
    if flag:
        if x > 2:
            x = x * x
        y = x
    else:
        y = x - 1
    return y


@given(*SIGNS)
def if_undefined(x):
    if x > 0:
        y = 1
    return y


@given(*SIGNS)
def if_undefined_else(x):
    if x > 0:
        pass
    else:
        y = 1
    return y


@given(*SIGNS)
def if_undefined_unused(x):
    if x > 0:
        y = x + 1
        x = y * 2
    return x


@given(3, -3)
def if_undefined_python(x):
    if x > 0:
        y = 1
    return y


@given(*SIGNS)
def if_dtypes_differ(x):
    if x > 0:
        y = 1
    else:
        y = 1.0
    return y


@given(*SIGNS)
def if_structures_differ(x):
    if x > 0:
        y = (1, 2)
    else:
        y = 1
    return y


@given(*SIGNS)
def if_structures(x):
    if x > 0:
        y = {"a": x, "b": [x, 1]}
    else:
        y = {"a": 0, "b": [2, x]}
    return y["a"] + y["b"][0] * 10 + y["b"][1] * 100


@given(*SIGNS)
def if_none(x):
    y = None
    if x > 0:
        y = x
    return y


@given(*SIGNS)
def if_of_integer(x):
    if x:
        return 1
    return 2


@given(b(True), b(False), b([True]), b([True, False]))
def if_of_boolean(x):
    if x:
        return 1
    return 2


@given(*SIGNS)
def if_string(x):
    word = "low"
    if x > 0:
        word = "high"
    return word


@given(*SIGNS)
def if_with_strings_joined(x):
    word = tf.constant("a")
    if x > 0:
        word = word + "b"
    return word


@given(f([1.0, 2.0]), f([-1.0, -2.0]))
def if_of_reduction(x):
    if tf.reduce_sum(x) > 0:
        return x * 2
    else:
        return -x


@given(*SIGNS)
def if_shapes_differ(x):
    if x > 0:
        y = tf.constant([1, 2])
    else:
        y = tf.constant([1, 2, 3])
    return tf.reduce_sum(y)


# ---- return


@given(*SIGNS)
def return_early(x):
    if x > 0:
        return x
    return -x * 10


@given(*SIGNS)
def return_missing(x):
    if x > 0:
        return x


@given(*SIGNS, i(8))
def return_nested(x):
    if x > 0:
        if x > 5:
            return 1
        x = x + 1
    else:
        return 2
    return x


@given(*SIGNS, i(8), i(30))
def return_chain(x):
    if x < 0:
        return 0
    if x < 1:
        return 1
    if x < 10:
        return 2
    return 3


@given(*SIGNS, i(8), i(30))
def return_elif_chain(x):
    if x < 0:
        return x - 1
    elif x < 1:
        return x - 2
    elif x < 10:
        x = x * 2
        return x
    else:
        return x - 3


@given(*SIGNS)
def return_pair(x):
    if x > 0:
        return x, x + 1
    return x - 1, x


@given(*SIGNS)
def return_different(x):
    if x > 0:
        return x
    return 1.5


@given(3, 0)
def return_python(x):
    if x > 0:
        return 1
    return 2


@given(3, 0)
def return_python_missing(x):
    if x > 5:
        return 1


@given(*SIGNS)
def return_after_loop(x):
    total = 0
    for k in range(3):
        total += k
    if total > 2:
        return x + total
    return x


@given((i(3), 2), (i(3), 9))
def return_in_python_loop(x, stop):
    for k in range(5):
        x = x + k
        if k == stop:
            return x
    return -x


@given((i(3), 2), (i(3), 9))
def return_in_python_while(x, stop):
    k = 0
    while k < 5:
        k += 1
        x = x + k
        if k == stop:
            return x
    return -x


@given(i(3))
def return_of_tensor_in_python_loop(x):
    for k in range(5):
        if x > k:
            return x
    return -x


@given(*SIGNS)
def return_in_with(x):
    with tf.name_scope("inside"):
        if x > 0:
            return x * 3
    return x


@given(*SIGNS)
def return_in_try(x):
    try:
        if x > 0:
            return x * 3
    except KeyError:
        pass
    return x - 1


@given(i(1))
def return_nothing(x):
    y = x + 1
    del y


# ---- while


@given(*COUNTS, 0, 4)
def while_counts(n):
    k = 0
    total = 0
    while k < n:
        total += k
        k += 1
    return total


@given(*COUNTS)
def while_over_float(n):
    x = tf.constant(1.0)
    while n > 0:
        x = x * 2.0
        n = n - 1
    return x


@given(i(27), i(1), i(6))
def while_collatz(n):
    steps = 0
    while n > 1:
        if tf.equal(n % 2, 0):
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@given(*COUNTS)
def while_break(n):
    k = 0
    while k < n:
        k += 1
        if k > 3:
            break
    return k


@given(*COUNTS)
def while_continue(n):
    k = 0
    total = 0
    while k < n:
        k += 1
        if tf.equal(k, 2):
            continue
        total += k
    return total


@given(*COUNTS, i(20))
def while_break_and_continue(n):
    k = 0
    total = 0
    while k < n:
        k += 1
        if tf.equal(k % 2, 0):
            continue
        if k > 8:
            break
        total += k
    return total, k


@given(*COUNTS, i(20))
def while_true_break(n):
    k = 0
    while tf.constant(True):
        if k >= n:
            break
        k += 1
    return k


@given(*COUNTS)
def while_nested(n):
    total = 0
    a = 0
    while a < n:
        c = 0
        while c < a:
            total += c
            c += 1
        a += 1
    return total


@given(*COUNTS)
def while_nested_break(n):
    total = 0
    a = 0
    while a < n:
        c = 0
        while c < n:
            if c > a:
                break
            total += 1
            c += 1
        a += 1
    return total


@given((i(3), 4), (i(0), 4))
def while_python_outside(x, times):
    k = 0
    while k < times:
        while x < k:
            x += 1
        k += 1
    return x


@given(*COUNTS)
def while_dtype_changes(n):
    x = 0
    while x < n:
        x = tf.cast(x, tf.float32) + 1.5
    return x


@given(*COUNTS)
def while_shape_changes(n):
    x = tf.constant([1])
    k = 0
    while k < n:
        x = tf.concat([x, [k]], 0)
        k += 1
    return x


@given(*COUNTS)
def while_shape_invariant(n):
    x = tf.constant([1])
    k = 0
    while k < n:
        tf.autograph.experimental.set_loop_options(
            shape_invariants=[(x, tf.TensorShape([None]))]
        )
        x = tf.concat([x, [k]], 0)
        k += 1
    return x


@given(i(2), i(5))
def while_maximum(n):
    k = 0
    while k < n * 10:
        tf.autograph.experimental.set_loop_options(maximum_iterations=12)
        k += 1
    return k


@given(*COUNTS)
def while_undefined(n):
    k = 0
    while k < n:
        y = k * 2
        k += 1
    return y


@given(*COUNTS)
def while_local(n):
    k = 0
    while k < n:
        y = k * 2
        k += 1 + y
    return k


@given(*COUNTS)
def while_structure_changes(n):
    k = 0
    y = (1, 2)
    while k < n:
        y = 3
        k += 1
    return k, y


@given(*COUNTS)
def while_tuple(n):
    pair = (0, 1)
    while pair[0] < n:
        pair = (pair[0] + 1, pair[1] * 2)
    return pair


@given(*COUNTS)
def while_of_two_conditions(n):
    k = 0
    while k < n and k < 3:
        k += 1
    return k


@given(*COUNTS)
def while_not(n):
    k = 0
    while not k >= n:
        k += 1
    return k


@given(*COUNTS)
def while_else(n):
    k = 0
    while k < n:
        k += 1
    else:
        k = k + 100
    return k


@given(i(1), i(10))
def fibonacci(n):
    a, c = 0, 1
    k = 0
    while k < n:
        a, c = c, a + c
        k += 1
    return a


@given((i(12), i(18)), (i(7), i(3)))
def gcd(x, y):
    while y > 0:
        x, y = y, x % y
    return x


@given(f(2.0), f(9.0))
def newton(x):
    guess = x
    while tf.abs(guess * guess - x) > 1e-3:
        guess = (guess + x / guess) / 2.0
    return guess


# ---- for


@given(*COUNTS)
def for_range(n):
    total = 0
    for k in tf.range(n):
        total += k
    return total


@given(*COUNTS)
def for_python_range_of_tensor(n):
    total = 0
    for k in range(n):
        total += k
    return total


@given((i(2), i(9), i(3)), (i(9), i(2), i(-3)), (i(5), i(5), i(1)))
def for_range_steps(start, stop, step):
    total = 0
    for k in tf.range(start, stop, step):
        total = total * 10 + k
    return total


@given(i([1, 2, 3]), i([7]))
def for_tensor(x):
    total = 0
    for item in x:
        total = total * 10 + item
    return total


@given(i([[1, 2], [3, 4], [5, 6]]))
def for_rows(x):
    total = tf.zeros([2], tf.int32)
    for row in x:
        total = total * 2 + row
    return total


@given(i([[1, 2], [3, 4], [5, 6]]))
def for_rows_nested(x):
    total = 0
    for row in x:
        for item in row:
            total = total * 10 + item
    return total


@given(i([3, 9, 4, 12]), i([1, 2]))
def for_break(x):
    total = 0
    for item in x:
        if item > 8:
            break
        total += item
    return total


@given(i([3, 9, 4, 12]), i([1, 2]))
def for_continue(x):
    total = 0
    for item in x:
        if item > 8:
            continue
        total += item
    return total


@given(i([3, 9, 4, 12]), i([1, 2]), i([20, 1]))
def for_break_and_continue(x):
    total = 0
    for item in x:
        if tf.equal(item, 4):
            continue
        if item > 10:
            break
        total += item
    return total


@given(*COUNTS)
def for_undefined(n):
    for k in tf.range(n):
        y = k * 2
    return y


@given(i(3), i(1))
def for_item_afterwards(n):
    for k in tf.range(n):  # noqa: B007
        pass
    return k


@given(i([1, 2, 3]))
def for_python_list_of_tensors(x):
    total = 0
    for item in [x, x * 2]:
        total += tf.reduce_sum(item)
    return total


@given(i(3))
def for_python_range(x):
    for k in range(4):
        x = x * 2 + k
    return x


@given(i(3))
def for_python_range_break(x):
    for k in range(4):
        if k == 2:
            break
        x = x * 2
    return x, k


@given(i(3))
def for_python_range_continue(x):
    for k in range(4):
        if k == 2:
            continue
        x = x * 2 + k
    return x


@given(i(3))
def for_python_tensor_break(x):
    for k in range(4):
        if x > k:
            break
    return x


@given(i(3))
def for_python_else(x):
    for k in range(4):
        if k == 9:
            break
    else:
        x = x + 100
    return x


@given(i(3))
def for_python_else_break(x):
    for k in range(4):
        if k == 2:
            break
    else:
        x = x + 100
    return x


@given(i([1, 2, 3]))
def for_enumerate_python(x):
    total = 0
    for k, factor in enumerate([3, 4]):
        total += x[k] * factor
    return total


@given(i([1, 2, 3]))
def for_zip_python(x):
    total = 0
    for k, factor in zip(range(3), (3, 4, 5)):
        total += x[k] * factor
    return total


@given(i([1, 2, 3]))
def for_items_of_dict(x):
    total = 0
    for name, factor in {"a": 1, "bb": 2}.items():
        total += x * factor * len(name)
    return total


@given(*COUNTS)
def for_writes_array(n):
    array = tf.TensorArray(tf.int32, n)
    for k in tf.range(n):
        array = array.write(k, k * k)
    return tf.reduce_sum(array.stack())


@given(i([4, 5, 6]))
def for_cumulated(x):
    array = tf.TensorArray(tf.int32, 3)
    total = 0
    for k in tf.range(3):
        total += x[k]
        array = array.write(k, total)
    return array.stack()


@given(f([[1.0, 2.0], [3.0, 4.0]]))
def for_recurrent(x):
    state = tf.zeros([2])
    for row in x:
        state = tf.tanh(state * 0.5 + row)
    return state


@given(i([1, 2, 3]))
def for_shape_changes(x):
    y = tf.constant([0])
    for item in x:
        y = tf.concat([y, [item]], 0)
    return y


@given(i([1, 2, 3]))
def for_shape_invariant(x):
    y = tf.constant([0])
    for item in x:
        tf.autograph.experimental.set_loop_options(
            shape_invariants=[(y, tf.TensorShape([None]))]
        )
        y = tf.concat([y, [item]], 0)
    return y


@given(i([1, 2, 3]))
def for_none(x):
    y = None
    for item in x:
        y = item
    return y


@given(i([1, 2, 3]))
def for_while_inside(x):
    total = 0
    for item in x:
        k = 0
        while k < item:
            total += k
            k += 1
    return total


@given(*COUNTS)
def while_for_inside(n):
    total = 0
    k = 0
    while k < n:
        for item in tf.range(k):
            total += item
        k += 1
    return total


@given(i([5, -2, 7, -1]))
def for_if_else(x):
    ups, downs = 0, 0
    for item in x:
        if item > 0:
            ups += item
        else:
            downs += item
    return ups, downs


@given(i([5, 2, 7, 1]))
def for_maximum(x):
    best = x[0]
    for item in x:
        if item > best:
            best = item
    return best


@given(i([5, 2, 7, 1]))
def for_finds_index(x):
    found = -1
    k = 0
    for item in x:
        if found < 0 and item > 6:
            found = k
        k += 1
    return found


@given(i(3))
def for_scalar(x):
    total = 0
    for item in x:
        total += item
    return total


@given(i(30), i(2))
def for_primes(n):
    count = 0
    for k in tf.range(2, n):
        prime = True
        for d in tf.range(2, k):
            if tf.equal(k % d, 0):
                prime = False
                break
        if prime:
            count += 1
    return count


@given(i([3, 1, 2]))
def for_bubble_sort(x):
    for _ in tf.range(3):
        for k in tf.range(2):
            if x[k] > x[k + 1]:
                x = tf.tensor_scatter_nd_update(x, [[k], [k + 1]], [x[k + 1], x[k]])
    return x


# ---- logic


@given((i(1), i(2)), (i(-1), i(2)), (i(1), i(-2)), (i(-1), i(-2)))
def logic_and(x, y):
    return x > 0 and y > 0


@given((i(1), i(2)), (i(-1), i(2)), (i(1), i(-2)), (i(-1), i(-2)))
def logic_or(x, y):
    return x > 0 or y > 0


@given((i(1), i(2)), (i(-1), i(2)), (i(-1), i(-2)))
def logic_mixed(x, y):
    return not (x > 0 or y > 0) and (x < y or y < x)


@given((i(1), True), (i(1), False), (i(-1), True))
def logic_with_python(x, flag):
    return flag and x > 0


@given((i(1), True), (i(1), False), (i(-1), True))
def logic_with_python_last(x, flag):
    return x > 0 and flag


@given((i(1), 0), (i(1), 5))
def logic_gives_value(x, other):
    return other or x


@given(*SIGNS)
def logic_not(x):
    return not x > 0


@given(*SIGNS, 2, 9)
def logic_chain(x):
    return 1 < x < 5


@given((i(1), i(2), i(3)), (i(1), i(3), i(2)), (i(3), i(2), i(1)))
def logic_long_chain(x, y, z):
    return 0 < x < y <= z


@given((i(3), i(0)), (i(3), i(2)))
def logic_is_lazy(x, y):
    return y > 0 and x // y > 0


@given(*SIGNS)
def logic_of_integer(x):
    return x and x > 1


@given(i(3))
def logic_is_none(x):
    return x is None or x is not None and x > 1


@given(*SIGNS)
def logic_in_if(x):
    if x > 0 and x < 10 or x < -3:
        return 1
    return 0


@given(3, 0)
def logic_of_python(x):
    return (x and 7) or "none"


@given(*SIGNS, 4, -4)
def conditional(x):
    return x if x > 0 else -x


@given(*SIGNS)
def conditional_nested(x):
    return 1 if x > 0 else (0 if tf.equal(x, 0) else -1)


@given(*SIGNS)
def conditional_pair(x):
    low, high = (x, 0) if x < 0 else (0, x)
    return low, high


@given(*SIGNS)
def conditional_dtypes(x):
    return 1 if x > 0 else 1.0


@given((i(3), True), (i(3), False))
def conditional_python(x, flag):
    return x + (1 if flag else 2)


# ---- functions


def helper_abs(x):
    if x < 0:
        return -x
    return x


def helper_sum(x, times=2, *, plus=0):
    total = plus
    for _ in tf.range(times):
        total += x
    return total


@given(*SIGNS)
def call_global(x):
    return helper_abs(x) + 1


@given((i(3), i(4)), (i(3), i(0)))
def call_with_keywords(x, n):
    return helper_sum(x, n, plus=100), helper_sum(x), helper_sum(plus=1, x=x)


@given((i(3), i(4)))
def call_with_stars(x, n):
    args = (x,)
    kwargs = {"times": n}
    return helper_sum(*args, **kwargs)


@given(*SIGNS)
def call_nested(x):
    def inner(y):
        if y > 0:
            return y
        return y - 1

    return inner(x) * 2


@given(*SIGNS)
def call_closure(x):
    scale = x + 1

    def inner(y):
        if y > 0:
            return y * scale
        return scale

    return inner(x)


@given(*SIGNS)
def call_closure_changes(x):
    k = 1

    def inner():
        return x * k

    if x > 0:
        k = 5
    return inner()


@given(*SIGNS)
def call_nonlocal(x):
    count = 0

    def bump(y):
        nonlocal count
        if y > 0:
            count += 1
        else:
            count -= 1
        return y

    bump(x)
    bump(x + 3)
    return count


@given(*SIGNS)
def call_lambda(x):
    inner = lambda y: y if y > 0 else -y  # noqa: E731
    return inner(x) + 1


@given(*SIGNS)
def call_two_lambdas(x):
    up, down = (lambda y: y + 1 if y > 0 else y), (lambda y: y - 1 if y > 0 else y)
    return up(x), down(x)


@given(*SIGNS)
def call_partial(x):
    return functools.partial(helper_sum, times=3)(x)


@given(i([1, -2, 3]))
def call_map_fn(x):
    return tf.map_fn(lambda y: y if y > 0 else y * 10, x)


@given(i([1, -2, 3]))
def call_map_fn_of_function(x):
    return tf.map_fn(helper_abs, x)


def doubled(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        result = function(*args, **kwargs)
        if result > 0:
            result = result * 2
        return result

    return wrapper


@doubled
def helper_decorated(x):
    if x > 2:
        return x
    return x - 2


@given(*SIGNS)
def call_decorated(x):
    return helper_decorated(x)


@given(*SIGNS)
def call_decorated_inside(x):
    @doubled
    def inner(y):
        if y > 2:
            return y
        return y - 2

    return inner(x)


def helper_recursive(x, depth):
    if depth == 0:
        return x
    if x > 0:
        x = x - 1
    else:
        x = x + 10
    return helper_recursive(x, depth - 1)


@given((i(2), 0), (i(2), 5))
def call_recursive(x, depth):
    return helper_recursive(x, depth)


def helper_generator(n):
    for k in range(n):
        yield k


@given(i(3))
def call_generator(x):
    total = 0
    for k in helper_generator(3):
        total += x * k
    return total


def helper_generator_of_tensors(x):
    if x > 0:
        yield x


@given(i(3))
def call_generator_of_tensors(x):
    total = 0
    for k in helper_generator_of_tensors(x):
        total += k
    return total


class Counter:
    """Has methods, properties, and state."""

    start = 5

    def __init__(self, step):
        self.step = step
        self.__hidden = 3
        self.total = tf.constant(0)

    def advance(self, x):
        if x > 0:
            return x + self.step
        return x - self.step

    def add(self, x):
        if x > 0:
            self.total = self.total + x
        else:
            self.total = self.total - 1
        return self.total

    def hidden(self, x):
        if x > 0:
            return x + self.__hidden
        return x

    @property
    def twice(self):
        return self.step * 2

    @classmethod
    def made(cls, x):
        if x > 0:
            return x + cls.start
        return x

    @staticmethod
    def plain(x):
        if x > 0:
            return x * 7
        return x

    def __call__(self, x):
        if x > 0:
            return x * self.step
        return x


class LaterCounter(Counter):
    """Calls the methods of its base."""

    def advance(self, x):
        y = super().advance(x)
        if y > 0:
            y = super(LaterCounter, self).advance(y) * 2
        return y


@given(*SIGNS)
def method_call(x):
    return Counter(2).advance(x)


@given(*SIGNS)
def method_state(x):
    counter = Counter(2)
    counter.add(x)
    return counter.add(x + 1)


@given(*SIGNS)
def method_state_in_branch(x):
    counter = Counter(2)
    if x > 0:
        counter.total = x
    return counter.total


@given(*COUNTS)
def method_state_in_loop(n):
    counter = Counter(2)
    for k in tf.range(n):
        counter.total = counter.total + k
    return counter.total


@given(*SIGNS)
def method_hidden(x):
    return Counter(2).hidden(x)


@given(*SIGNS)
def method_super(x):
    return LaterCounter(3).advance(x)


@given(*SIGNS)
def method_kinds(x):
    return Counter.made(x), Counter.plain(x), Counter(4)(x), Counter(4).twice


@given(*SIGNS)
def class_inside(x):
    class Inner:
        def value(self, y):
            if y > 0:
                return y
            return -y

    return Inner().value(x)


# ---- builtins


@given(i([3, -1, 2]))
def builtin_len(x):
    return len(x), len([x, x]), abs(x)


@given(f(2.7), f(-2.7))
def builtin_numbers(x):
    return int(x), float(x)


@given(i(3))
def builtin_len_scalar(x):
    return len(x)


@given(i([1, 2, 3]))
def builtin_comprehensions(x):
    y = [x[k] for k in range(3) if k != 1]
    z = {k: x[k] for k in range(2)}
    return y[0] + y[1] * 10, z[0] + z[1] * 10, sum([x[k] for k in range(3)])


@given(i([1, 2, 3]))
def builtin_comprehension_of_calls(x):
    return [helper_abs(v) for v in (x[0], -x[1])]


@given(i([1, 2, 3]))
def builtin_comprehension_over_tensor(x):
    return [v for v in x]


@given(i([1, 2, 3]))
def builtin_map_filter(x):
    y = list(map(helper_abs, [x[0], -x[1]]))
    z = list(filter(lambda k: k > 1, [1, 2, 3]))
    return y[0], y[1], z[0], z[1]


@given(i(5))
def builtin_python_values(x):
    return x + max(1, 2) + min([3, 4]) + sorted([9, 7])[0] + any([0, 1]) + all([1, 1])


@given(i(5))
def builtin_isinstance(x):
    return x + (1 if isinstance(x, int) else 2)


@given(i([1, 2]))
def builtin_shape(x):
    if x.shape[0] > 1:
        return x * 2
    return x


@given(i(3))
def list_append(x):
    values = []
    for k in range(3):
        values.append(x + k)
    return values


@given(i(3))
def list_pop(x):
    values = [x, x + 1, x + 2]
    last = values.pop()
    return last, len(values)


@given(i(3))
def list_append_in_loop_of_graph(n):
    values = []
    for k in tf.range(n):
        values.append(k)
    return values


@given(i(3))
def list_item_in_branch(x):
    values = [x, x]
    if x > 0:
        values[0] = x * 5
    return values[0], values[1]


@given(i(3), i(-3))
def dict_item_in_branch(x):
    values = {"a": x}
    if x > 0:
        values["a"] = x * 5
    return values["a"]


@given(i(3), i(-3))
def dict_new_item_in_branch(x):
    values = {}
    if x > 0:
        values["a"] = x * 5
    else:
        values["a"] = x
    return values["a"]


@given(i([1, 2]))
def item_of_tensor(x):
    x[0] = 5
    return x


@given(i(2))
def python_assert(x):
    assert x is not None, "message"
    return x


@given(i(2))
def python_assert_fails(x):
    assert x is None, "message"
    return x


@given(i(2))
def python_raise(x):
    raise KeyError("not there")


@given(i(2))
def python_raise_in_branch(x):
    if x > 5:
        raise KeyError("not there")
    return x


@given((i(2), 1), (i(2), 0))
def python_try(x, divisor):
    try:
        k = 6 // divisor
    except ZeroDivisionError:
        k = -1
    finally:
        x = x + 1
    return x * k


@given(i(2))
def python_with(x):
    with tf.name_scope("scope") as scope:
        if x > 1:
            x = x + 1
    return x, len(scope) > 0


@given(i(2))
def python_del(x):
    y = x + 1
    if x > 0:
        x = y
    del y
    return x


@given(i(2))
def python_del_and_read(x):
    y = x + 1
    del y
    return x + y  # noqa: F821


@given(i(2), i(9))
def python_unpacking(x):
    first, *rest = [x, 1, 2]
    if x > 3:
        first, rest = rest[0], [x, 5]
    return first + rest[0] * 10 + rest[1] * 100


@given(i(2), i(9))
def python_augmented(x):
    y = 1
    y <<= 2
    if x > 3:
        x *= 2
        x -= 1
        x //= 3
        y += 3
    return x, y


@given(i(2), i(9))
def python_annotated(x):
    y: int = 3
    if x > 3:
        z: int = 4
        y = y + z
    return x * y


@given(i(2), i(-2))
def python_walrus(x):
    if (y := x * 2) > 0:
        return y
    return y - 1


@given((i(2), "up"), (i(2), "down"))
def python_strings(x, mode):
    if mode == "up":
        x = x + 1
    elif mode in ("down", "lower"):
        x = x - 1
    return x


@given(i(2))
def python_format(x):
    text = f"{1 + 1}-{'a' if x is not None else 'b'}"
    return x + len(text)


@given(i(2))
def python_slices(x):
    y = tf.stack([x, x + 1, x + 2, x + 3])
    return y[1:3], y[::2], y[-1]


@given(i(2), i(-1))
def python_star_expressions(x):
    values = [*[1, 2], *[x, x]]
    table = {**{"a": x}, "b": values[0]}
    return (table["a"] if x > 0 else 0) + table["b"]


GLOBAL = 1


@given(i(2))
def python_global(x):
    global GLOBAL
    GLOBAL = 1
    if x is not None:
        GLOBAL = 2
    return x + GLOBAL


@given(*SIGNS)
def unconverted(x):
    @tf.autograph.experimental.do_not_convert
    def inner(y):
        return y + 1

    return inner(x)


@given(*SIGNS)
def unconverted_branch(x):
    @tf.autograph.experimental.do_not_convert
    def inner(y):
        if y > 0:
            return y
        return -y

    return inner(x)


# ---- values of several kinds at once


@given((f([[1.0, 2.0], [3.0, 4.0]]), i(3)), (f([[1.0, 2.0], [3.0, 4.0]]), i(0)))
def matrix_power(x, n):
    result = tf.eye(2)
    while n > 0:
        if tf.equal(n % 2, 1):
            result = tf.matmul(result, x)
        x = tf.matmul(x, x)
        n = n // 2
    return result


@given(i([4, 8, 15, 16, 23, 42]))
def binary_search(x):
    low, high = 0, 5
    while low < high:
        middle = (low + high) // 2
        if x[middle] < 16:
            low = middle + 1
        else:
            high = middle
    return low


@given(f([0.5, -1.0, 2.0]))
def piecewise(x):
    total = 0.0
    for v in x:
        if v > 1.0:
            total += v * v
        elif v > 0.0:
            total += v
        else:
            total -= v
    return total


@given(i(10), i(0))
def two_loops(n):
    total = 0
    for k in tf.range(n):
        if k > 5:
            break
        total += k
    for k in tf.range(n):
        if k < 5:
            continue
        total += k * 100
    return total


@given(i(6))
def triple_nested(n):
    count = 0
    for x in tf.range(1, n):
        for y in tf.range(x, n):
            for z in tf.range(y, n):
                if tf.equal(x * x + y * y, 25) and tf.equal(z, 5):
                    count += 1
    return count


@given((i(5), i(3)), (i(1), i(3)))
def branch_in_branch_of_loops(x, n):
    total = x
    if x > 2:
        while total < 50:
            total = total * n
    else:
        for k in tf.range(n):
            if k > 1:
                total -= k
            else:
                total += k
    return total


@given(i([3, 0, 2, 0]))
def count_zeros(x):
    zeros = 0
    for v in x:
        zeros += 1 if tf.equal(v, 0) else 0
    return zeros


@given((f(1.0), 3), (f(1.0), 0))
def unrolled(x, layers):
    for layer in range(layers):
        x = x * 2.0
        if layer % 2:
            x = x + 1.0
    return x
