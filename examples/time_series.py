"""Foretells a day of a made series of hourly loads from the week before, and draws it.

    rheos run examples/time_series.py [epochs [plot.svg]]

A TensorFlow 2 program: windows by tf.data, a net of Keras, early stopping. The net is compared with
the guess that the day is as the one a week ago. A series for others goes in the place of
make_series().
"""

import sys

import numpy as np
import tensorflow as tf

epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 12
path = sys.argv[2] if len(sys.argv) > 2 else "time_series.svg"
DAY, WEEK, BATCH = 24, 7 * 24, 64


def make_series(days=500):
    """Hourly loads with days, weeks, seasons, weather that lasts, and noise."""
    random = np.random.RandomState(1)
    hour = np.arange(days * DAY)
    weather = np.zeros(len(hour))
    for i in range(1, len(hour)):
        weather[i] = 0.98 * weather[i - 1] + random.normal(0, 0.06)
    daily = np.sin(2 * np.pi * (hour - 8) / DAY) + 0.5 * np.sin(4 * np.pi * (hour - 7) / DAY)
    weekend = hour // DAY % 7 >= 5
    season = np.cos(2 * np.pi * hour / (365 * DAY))
    load = daily * np.where(weekend, 0.4, 1) + season + weather + random.normal(0, 0.08, len(hour))
    return load.astype(np.float32)


def windows(series):
    """Pairs of a week and the day behind it, one for each hour."""
    pieces = tf.data.Dataset.from_tensor_slices(series).window(WEEK + DAY, 1, 1, True)
    pieces = pieces.flat_map(lambda piece: piece.batch(WEEK + DAY))
    return pieces.map(lambda piece: (piece[:WEEK], piece[WEEK:]))


def write_plot(path, **lines):
    """Lines of equal length as an SVG file, one above the other; the last ones in colour."""
    colours = ["#999999", "#1f77b4", "#d62728"]
    low, high = min(map(min, lines.values())), max(map(max, lines.values()))
    drawn = []
    for (name, line), colour in zip(lines.items(), colours):
        x = 10 + 580 * np.arange(len(line)) / (len(line) - 1)
        y = 190 - 160 * (np.array(line) - low) / (high - low)
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y))
        style = f'fill="none" stroke="{colour}" stroke-width="2"'
        drawn.append(f'<polyline points="{points}" {style}/>')
        drawn.append(f'<text x="{20 + 190 * len(drawn) // 2}" y="18" fill="{colour}">{name}</text>')
    with open(path, "w") as file:
        file.write('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 200" width="600" '
                   'height="200" font-family="sans-serif" font-size="14">\n'
                   '<rect width="600" height="200" fill="white"/>\n'
                   + "\n".join(drawn) + "\n</svg>\n")  # fmt: skip


series = make_series()
learn, stop, test = np.split(series, [400 * DAY, 450 * DAY])
tf.keras.utils.set_random_seed(1)
model = tf.keras.Sequential(
    [
        tf.keras.layers.Input([WEEK]),
        tf.keras.layers.Reshape([7, DAY]),  # a day is a step of the recurrent layer
        tf.keras.layers.GRU(48),
        tf.keras.layers.Dense(DAY),
    ]
)
model.compile(tf.keras.optimizers.Adam(0.004), "mse", metrics=["mae"])
history = model.fit(
    windows(learn).shuffle(10000, seed=1).batch(BATCH).prefetch(2),
    validation_data=windows(stop).batch(256),
    epochs=epochs,
    callbacks=[tf.keras.callbacks.EarlyStopping(patience=3, restore_best_weights=True)],
    verbose=0,
).history
for epoch, (known, unseen) in enumerate(zip(history["mae"], history["val_mae"]), 1):
    print(f"epoch {epoch:2}   error {known:.3f}   of what it has not seen {unseen:.3f}")

weeks, days = next(iter(windows(test).batch(len(test))))
guess = model.predict(weeks, batch_size=256, verbose=0)
error, naive = np.abs(guess - days).mean(), np.abs(weeks[:, :DAY] - days).mean()
print(f"last 50 days: error {error:.3f}; of the guess 'as a week ago' {naive:.3f}")
some = range(0, 7 * DAY, DAY)  # a week of guesses, each made at midnight
write_plot(
    path,
    a_week_ago=np.concatenate([weeks[i, :DAY] for i in some]),
    as_it_was=np.concatenate([days[i] for i in some]),
    foretold=np.concatenate([guess[i] for i in some]),
)
print(f"a week of days is drawn in {path}")
