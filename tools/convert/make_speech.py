#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes speech.wav: silence, speech by espeak-ng, and noise, 16 kHz mono 16-bit.

    make_speech.py OUT.wav

Needs espeak-ng and numpy. The result is committed: another espeak-ng version speaks other samples,
and the reference answers belong to the committed ones.
"""

import io
import subprocess
import sys
import wave

import numpy as np

RATE = 16000
FRAME = 512


def speak(text, voice, words_per_minute):
    out = subprocess.run(["espeak-ng", "-v", voice, "-s", str(words_per_minute), "--stdout", text],
                         check=True, stdout=subprocess.PIPE).stdout
    # espeak-ng writes to a pipe, so the sizes in its header are placeholders: take what is there.
    with wave.open(io.BytesIO(out)) as file:
        rate, data = file.getframerate(), file.readframes(1 << 24)
    return resample(np.frombuffer(data[:len(data) // 2 * 2], "<i2") / 32768.0, rate)


def resample(x, rate):
    """Windowed sinc, 32 zero crossings, cut off at 7.2 kHz."""
    n = int(len(x) * RATE / rate)
    centre = np.arange(n) * (rate / RATE)
    reach = 32 * rate / RATE
    taps = np.arange(-int(reach), int(reach) + 2)
    index = np.floor(centre).astype(int)[:, None] + taps[None, :]
    offset = index - centre[:, None]
    cut = 0.9 * RATE / rate
    weight = cut * np.sinc(cut * offset) * (0.5 + 0.5 * np.cos(np.pi * np.clip(offset / reach, -1, 1)))
    inside = (index >= 0) & (index < len(x))
    return (weight * np.where(inside, x[np.clip(index, 0, len(x) - 1)], 0.0)).sum(axis=1)


def main():
    random = np.random.default_rng(20240229)

    def noise(seconds, level):
        return level * random.standard_normal(int(seconds * RATE))

    first = speak("The quick brown fox jumps over the lazy dog.", "en-gb", 185)
    second = speak("One list, one submission, one answer.", "en-us+f3", 180)
    first, second = 0.5 * first / np.abs(first).max(), 0.35 * second / np.abs(second).max()
    speech = [np.zeros(int(0.6 * RATE)), first, noise(0.7, 0.003),
              second + noise(len(second) / RATE + 1, 0.01)[:len(second)], noise(0.8, 0.08),
              np.zeros(int(0.4 * RATE))]
    x = np.concatenate(speech)
    x = np.pad(x, (0, -len(x) % FRAME))
    print(f"{len(x)} samples, {len(x) // FRAME} frames, {(len(first) + len(second)) / RATE:.2f} s of speech")
    with wave.open(sys.argv[1], "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.clip(np.rint(x * 32767), -32768, 32767).astype("<i2").tobytes())


main()
