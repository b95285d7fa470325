"""Synthesised recordings: calls of animals, an engine, and speech (eSpeak NG). Saved as MP3.

Needs ``pip install av espeakng-loader`` besides what crowdd needs.
"""

from __future__ import annotations

import ctypes
import math
import random
import wave
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

RATE = 22_050
Samples = list[float]
Voice = Callable[[random.Random], Samples]


def _tone(seconds: float, pitch: Callable[[float], float], loud: Callable[[float], float]) -> Samples:
    """A tone whose pitch (Hz) and loudness (0 to 1) follow the share of its time."""
    samples, phase = [], 0.0
    for index in range(round(seconds * RATE)):
        share = index / (seconds * RATE)
        phase += math.tau * pitch(share) / RATE
        samples.append(loud(share) * (math.sin(phase) + 0.25 * math.sin(2 * phase)))
    return samples


def _arch(share: float) -> float:
    return math.sin(math.pi * share) ** 0.6


def _silence(seconds: float) -> Samples:
    return [0.0] * round(seconds * RATE)


def cuckoo(chance: random.Random) -> Samples:
    """Two notes, the second one lower."""
    first, second = 680 + chance.uniform(-20, 20), 540 + chance.uniform(-15, 15)
    return [
        *_tone(0.22, lambda share: first, _arch),
        *_silence(0.1),
        *_tone(0.34, lambda share: second - 20 * share, _arch),
    ]


def warbler(chance: random.Random) -> Samples:
    """A fast trill that falls."""
    samples: Samples = []
    for step in range(16):
        high = 4300 - 70 * step
        samples += [*_tone(0.05, lambda share, high=high: high - 1200 * share, _arch), *_silence(0.022)]  # type: ignore[misc]
    return samples


def woodpecker(chance: random.Random) -> Samples:
    """Drumming on wood."""
    samples: Samples = []
    for beat in range(18):
        fade = 1 - beat / 26
        samples += [fade * chance.uniform(-1, 1) * math.exp(-index / 90) for index in range(round(0.028 * RATE))]
        samples += _silence(0.02)
    return samples


def frog(chance: random.Random) -> Samples:
    """A croak."""
    base = 190 + chance.uniform(-25, 25)
    return _tone(0.5, lambda share: base * 3, lambda share: _arch(share) * (0.5 + 0.5 * math.sin(share * 150)) ** 2)


def engine(chance: random.Random) -> Samples:
    """A car that comes near and goes away."""
    humming = _tone(1.9, lambda share: 92 - 14 * share, lambda share: 0.7 * math.sin(math.pi * share) ** 2)
    return [
        value + 0.35 * chance.uniform(-1, 1) * math.sin(math.pi * index / len(humming)) ** 2
        for index, value in enumerate(humming)
    ]


VOICES: dict[str, Voice] = {
    "cuckoo": cuckoo,
    "warbler": warbler,
    "woodpecker": woodpecker,
    "frog": frog,
    "engine": engine,
    "bird": warbler,
}


def scene(seconds: float, events: list[tuple[float, str]], seed: int) -> Samples:
    """A recording with voices at times (seconds), over a soft wind."""
    chance = random.Random(seed)
    samples, wind = [], 0.0
    for _index in range(round(seconds * RATE)):
        wind = 0.97 * wind + 0.03 * chance.uniform(-1, 1)
        samples.append(0.09 * wind)
    for at, voice in events:
        begin = round(at * RATE)
        for index, value in enumerate(VOICES[voice](chance)):
            if begin + index < len(samples):
                samples[begin + index] += 0.5 * value
    return samples


def speech(sentences: list[str]) -> Samples:
    """The sentences as eSpeak NG reads them, with pauses."""
    import espeakng_loader  # noqa: PLC0415 - only who makes the samples has it

    library = ctypes.CDLL(espeakng_loader.get_library_path())
    rate = library.espeak_Initialize(1, 500, espeakng_loader.get_data_path().encode(), 0)
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)
    samples: Samples = []

    def heard(wav: ctypes._Pointer[ctypes.c_short], count: int, events: object) -> int:
        samples.extend(wav[index] / 32768 for index in range(count) if wav)
        return 0

    keep = kind(heard)
    library.espeak_SetSynthCallback(keep)
    library.espeak_SetVoiceByName(b"en-gb")
    library.espeak_SetParameter(1, 140, 0)
    for sentence in sentences:
        words = sentence.encode()
        library.espeak_Synth(words, len(words) + 1, 0, 0, 0, 1, None, None)
        library.espeak_Synchronize()
        samples.extend([0.0] * round(0.5 * rate))
    return samples if rate == RATE else samples[:: max(1, round(rate / RATE))]


def save(samples: Samples, path: Path) -> None:
    """Writes MP3 of 32 kbit/s."""
    import av  # noqa: PLC0415

    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w", options={"write_xing": "0"}) as out, av.open(wav(samples)) as source:
        stream = out.add_stream("libmp3lame", rate=RATE, layout="mono")
        stream.bit_rate = 32_000
        for frame in source.decode(audio=0):
            frame.pts = None
            for packet in stream.encode(frame):
                out.mux(packet)
        for packet in stream.encode(None):
            out.mux(packet)


def wav(samples: Samples) -> BytesIO:
    """The recording as a WAV file."""
    buffer = BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(
            b"".join(round(32_000 * max(-1.0, min(1.0, value))).to_bytes(2, "little", signed=True) for value in samples)
        )
    buffer.seek(0)
    return buffer
