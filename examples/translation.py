"""Translates numbers from English words to German ones, with attention, and draws where it looks.

    rheos run examples/translation.py [steps]

A TensorFlow 2 program. German says the ones before the tens, so a word often stands for one that
comes later: the drawing of the attention shows it. Sentences for others go into make_pairs().
"""

import sys

import numpy as np
import tensorflow as tf

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 250
BATCH, UNITS = 64, 64
ENGLISH = "one two three four five six seven eight nine".split()
GERMAN = "ein zwei drei vier fünf sechs sieben acht neun".split()
ENGLISH_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
GERMAN_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()


def make_pair(thousands, hundreds, tens, ones):
    """The words of a number; tens from 2 on, others from 1."""
    english = [ENGLISH[thousands - 1], "thousand", ENGLISH[hundreds - 1], "hundred", "and"]
    english += [ENGLISH_TENS[tens - 2], ENGLISH[ones - 1]]
    german = [GERMAN[thousands - 1], "tausend", GERMAN[hundreds - 1], "hundert"]
    return english, german + [GERMAN[ones - 1], "und", GERMAN_TENS[tens - 2]]


def make_pairs():
    """All there are, with smaller numbers among them."""
    pairs = []
    for number in range(9 * 9 * 8 * 9):
        rest, ones = divmod(number, 9)
        rest, tens = divmod(rest, 8)
        thousands, hundreds = divmod(rest, 9)
        english, german = make_pair(thousands + 1, hundreds + 1, tens + 2, ones + 1)
        left_out = 2 * (number % 3 == 0)  # every third one without thousands
        pairs.append((english[left_out:], german[left_out:]))
    return pairs


def numbered(sentences, words):
    """Sentences as numbers (sentences, longest): 0 is none, 1 begins, 2 ends."""
    number_of = {word: number for number, word in enumerate(words)}
    rows = [[1, *(number_of[word] for word in sentence), 2] for sentence in sentences]
    return np.array([row + [0] * (max(map(len, rows)) - len(row)) for row in rows], np.int32)


class Translator(tf.keras.Model):
    def __init__(self, num_given, num_wanted):
        super().__init__()
        self.given_table = tf.keras.layers.Embedding(num_given, UNITS, mask_zero=True)
        reader = tf.keras.layers.GRU(UNITS, return_sequences=True)
        self.reader = tf.keras.layers.Bidirectional(reader)
        self.wanted_table = tf.keras.layers.Embedding(num_wanted, UNITS, mask_zero=True)
        self.writer = tf.keras.layers.GRU(2 * UNITS, return_sequences=True)
        self.attention = tf.keras.layers.AdditiveAttention()
        self.mix = tf.keras.layers.Dense(UNITS, activation="tanh")
        self.scores = tf.keras.layers.Dense(num_wanted)

    def call(self, given, so_far):
        """Scores (batch, time, words) of the next word, and attention (batch, time, given)."""
        mask = given != 0
        read = self.reader(self.given_table(given), mask=mask)
        written = self.writer(self.wanted_table(so_far))
        seen, weights = self.attention(
            [written, read], mask=[None, mask], return_attention_scores=True
        )
        return self.scores(self.mix(tf.concat([written, seen], -1))), weights


pairs = make_pairs()
given_words = ["", "<", ">", *sorted({word for english, _ in pairs for word in english})]
wanted_words = ["", "<", ">", *sorted({word for _, german in pairs for word in german})]
given = numbered([english for english, _ in pairs], given_words)
wanted = numbered([german for _, german in pairs], wanted_words)
tf.random.set_seed(1)
order = np.random.RandomState(1).permutation(len(pairs))
known, unseen = order[:-500], order[-500:]
batches = tf.data.Dataset.from_tensor_slices((given[known], wanted[known]))
batches = batches.shuffle(len(known), seed=1).repeat().batch(BATCH).take(steps)

model = Translator(len(given_words), len(wanted_words))
optimizer = tf.keras.optimizers.Adam(0.004)


@tf.function
def train(given, wanted):
    with tf.GradientTape() as tape:
        scores, _ = model(given, wanted[:, :-1])
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(wanted[:, 1:], scores)
        counts = tf.cast(wanted[:, 1:] != 0, tf.float32)
        loss = tf.reduce_sum(losses * counts) / tf.reduce_sum(counts)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def translate(given):
    """The likeliest words, one after another, as numbers; and where each looked."""
    so_far = tf.ones_like(given[:, :1])
    for _ in range(wanted.shape[1] - 1):
        scores, weights = model(given, so_far)
        following = tf.argmax(scores[:, -1:], -1, output_type=tf.int32)
        goes_on = (so_far[:, -1:] != 0) & (so_far[:, -1:] != 2)
        following *= tf.cast(goes_on, tf.int32)
        so_far = tf.concat([so_far, following], 1)
    return so_far, weights


for step, batch in enumerate(batches, 1):
    loss = train(*batch)
    if step % max(1, steps // 5) == 0:
        print(f"step {step:4}   loss {loss:.4f}")

translated, weights = translate(given[unseen])
right = np.all(translated.numpy() == wanted[unseen], 1)
print(f"of unseen numbers {right.mean():.3f} are right in every word")
show = np.flatnonzero(given[unseen][:, -1])[0]  # one of the long ones
columns = [given_words[number] for number in given[unseen][show]]
print(" " * 9, " ".join(columns))
for word, row in zip(translated[show, 1:].numpy(), weights[show].numpy()):
    cells = (f"{' .:*#'[min(4, int(5 * x))]:^{len(name)}}" for x, name in zip(row, columns))
    print(f"{wanted_words[word]:>9}", " ".join(cells).rstrip())
