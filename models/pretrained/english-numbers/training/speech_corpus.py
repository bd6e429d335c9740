"""Synthetic speech to train and test the bundled speech model: random texts, espeak-ng's voices, rooms and noise.

Needs numpy and the library of Debian's espeak-ng 1.51 (libespeak-ng1).
"""

import ctypes
import wave

import numpy as np

SAMPLE_RATE = 16000
WINDOW_SECONDS = 6
WINDOW = WINDOW_SECONDS * SAMPLE_RATE

# ---- texts ------------------------------------------------------------------------------------------------------------------------

UNITS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen""".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
COMMANDS = [
    "turn on the {device}", "turn off the {device}", "turn the {device} on", "turn the {device} off", "turn on the {room} light",
    "turn off the {room} light", "turn on the light in the {room}", "turn off the light in the {room}", "open the {opening}",
    "close the {opening}", "lock the door", "unlock the door", "play some music", "stop the music", "pause the music",
    "play track {small}", "play the next song", "turn up the volume", "turn down the volume", "set the volume to {small}",
    "set a timer for {small} {unit}", "set the alarm for {time}", "wake me up at {time}", "set the temperature to {small} degrees",
    "dial {digits}", "call {digits}", "go to page {number}", "add {number} and {number}", "what time is it", "what is the weather today",
    "start", "stop", "yes", "no", "help", "cancel", "go back", "next", "repeat that", "thank you", "good morning", "good night",
]
SLOTS = {
    "device": "light lamp heating fan radio television music kettle".split(),
    "room": "kitchen bedroom bathroom garden garage office hall".split(),
    "opening": "door window garage curtains gate".split(),
    "unit": "seconds minutes hours".split(),
}


def number_words(number, joint):
    """Returns the words of a number below a million. `joint`, ["and"] or [], goes between hundreds and the rest."""
    if number < 20:
        return [UNITS[number]]
    if number < 100:
        return [TENS[number // 10 - 2]] + ([UNITS[number % 10]] if number % 10 else [])
    unit, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    words = number_words(number // unit, joint) + [name]
    rest = number % unit
    if rest:
        words += (joint if rest < 100 else []) + number_words(rest, joint)
    return words


def cardinal(rng):
    digits = rng.randint(1, 6)
    return " ".join(number_words(rng.randrange(10 ** (digits - 1), 10**digits), ["and"] if rng.random() < 0.6 else []))


def digit_string(rng):
    zero = "oh" if rng.random() < 0.3 else "zero"
    return " ".join(rng.choice([zero, *UNITS[1:10]]) for _ in range(rng.randint(1, 8)))


def year(rng):
    century, rest = rng.randint(16, 20), rng.randrange(100)
    if century == 20 and rest < 10:
        return " ".join(number_words(2000 + rest, ["and"]))
    tail = ["hundred"] if rest == 0 else ["oh", UNITS[rest]] if rest < 10 else number_words(rest, [])
    return " ".join(number_words(century, []) + tail)


def clock_time(rng):
    hour = UNITS[rng.randint(1, 12)]
    minutes = " ".join(number_words(rng.randint(10, 59), []))
    return rng.choice([f"{hour} o'clock", f"half past {hour}", f"quarter {rng.choice(['to', 'past'])} {hour}", f"{hour} {minutes}",
                       f"{rng.choice(['five', 'ten', 'twenty'])} {rng.choice(['to', 'past'])} {hour}"])


def decimal(rng):
    sign = "minus " if rng.random() < 0.3 else ""
    places = " ".join(rng.choice(UNITS[:10]) for _ in range(rng.randint(1, 4)))
    return sign + " ".join(number_words(rng.randrange(100), [])) + " point " + places


def command(rng):
    text = rng.choice(COMMANDS)
    fill = {"small": lambda: " ".join(number_words(rng.randint(1, 99), [])), "time": lambda: clock_time(rng),
            "digits": lambda: digit_string(rng), "number": lambda: " ".join(number_words(rng.randint(1, 999), ["and"]))}
    for name, words in SLOTS.items():
        fill[name] = lambda words=words: rng.choice(words)
    for name, make in fill.items():
        while "{" + name + "}" in text:
            text = text.replace("{" + name + "}", make(), 1)
    return text


def random_text(rng):
    kinds = [digit_string, cardinal, year, clock_time, decimal, command]
    return rng.choices(kinds, [26, 26, 6, 8, 8, 26])[0](rng)


# ---- speech -----------------------------------------------------------------------------------------------------------------------

ACCENTS = ["en", "en-us", "en-gb-x-rp", "en-gb-x-gbclan", "en-gb-x-gbcwmd", "en-029", "en-us-nyc"]
HELD_OUT_ACCENT = "en-gb-scotland"
VARIANTS = """adam Alex Alicia Andrea Annie antonio aunty belinda benjamin boris caleb david Denis Diogo ed edward edward2 Gene Gene2
    Gustave Henrique iven iven2 iven3 iven4 Jacky john Lee Marcelo Mario max michel miguel mike Nguyen pablo paul pedro quincy
    RicishayMax rob robert sandro shelby Storm travis Tweaky victor anika f1 f2 f3 f4 grandma croak klatt klatt2 klatt4 klatt5 klatt6
    m1 m2 m3 m4 m5 m6 m8""".split()
HELD_OUT_VARIANTS = "Andy AnxiousAndy f5 grandpa Hugo klatt3 linda m7 Marco Michael norbert steph steph2 steph3 zac".split()


class EspeakEvent(ctypes.Structure):
    """The struct espeak_EVENT of speak_lib.h."""
    _fields_ = [("type", ctypes.c_int), ("identifier", ctypes.c_uint), ("text_position", ctypes.c_int), ("length", ctypes.c_int),
                ("audio_position", ctypes.c_int), ("sample", ctypes.c_int), ("user_data", ctypes.c_void_p), ("id", ctypes.c_char * 8)]


class Espeak:
    """The library of espeak-ng, in this process. Its program does not report times."""

    PHONEME = 7  # type of the event for a phoneme
    SETTINGS = {"rate": 1, "pitch": 3, "range": 4, "word_gap": 7}

    def __init__(self):
        self.library = ctypes.CDLL("libespeak-ng.so.1")
        self.rate = self.library.espeak_Initialize(2, 0, None, 1)  # synchronous, passes samples to the callback, with events for phonemes
        self.chunks, self.phonemes = [], []

        @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(EspeakEvent))
        def receive(samples, count, events):
            if samples and count > 0:
                self.chunks.append(np.ctypeslib.as_array(samples, (count,)).copy())
            i = 0
            while events[i].type:
                if events[i].type == self.PHONEME:
                    self.phonemes.append((events[i].id.decode(), events[i].text_position - 1, events[i].sample / self.rate))
                i += 1
            return 0

        self.receive = receive  # keeps the callback alive: the library has only a pointer to it
        self.library.espeak_SetSynthCallback(receive)

    def say(self, text, voice, **settings):
        """Returns (samples, [(phoneme, offset of its word in the text, start in seconds)]).

        Samples are at 16 kHz, in [-1, 1], without silence at both ends. espeak-ng speaks some pairs of words, such as "on the", as one word
        with the offset of the first word.
        """
        self.chunks.clear(), self.phonemes.clear()
        if self.library.espeak_SetVoiceByName(voice.encode()) != 0:
            raise ValueError(f"espeak-ng has no voice {voice}")
        for name, value in settings.items():
            self.library.espeak_SetParameter(self.SETTINGS[name], value, 0)
        data = text.encode() + b"\0"
        self.library.espeak_Synth(data, len(data), 0, 1, 0, 1, None, None)  # 1 and 1: positions in characters, text in UTF-8
        samples = resample(np.concatenate(self.chunks) / 32768, self.rate)
        loud = np.flatnonzero(np.abs(samples) > 0.02 * np.abs(samples).max())
        begin, end = loud[0], loud[-1] + 1
        phonemes = [(name, offset, round(max(0.0, start - begin / SAMPLE_RATE), 3)) for name, offset, start in self.phonemes]
        return samples[begin:end], phonemes


def resample(samples, rate):
    """Returns the samples at 16 kHz, by truncating the spectrum. Appends silence up to a length whose Fourier transform is fast."""
    blocks = -(-len(samples) * 50 // (16 * rate)) * 16  # blocks of 20 ms
    size, count = blocks * rate // 50, blocks * SAMPLE_RATE // 50
    return np.fft.irfft(np.fft.rfft(samples, size)[: count // 2 + 1], count) * (count / size)


def filter_spectrum(samples, gain):
    """Returns the samples with their spectrum multiplied by gain(frequencies in Hz)."""
    size = -(-len(samples) // 4000) * 4000
    return np.fft.irfft(np.fft.rfft(samples, size) * gain(np.fft.rfftfreq(size, 1 / SAMPLE_RATE)), size)[: len(samples)]


def add_room(samples, rng):
    """Returns the samples with an echo that decays by 60 dB in 0.1 to 0.5 s. The length does not change."""
    length = int(rng.uniform(0.1, 0.5) * SAMPLE_RATE)
    echo = rng.standard_normal(length) * 10 ** (-3 * np.arange(length) / length)
    echo *= rng.uniform(0.1, 0.7) / np.sqrt((echo**2).sum())
    echo[0] = 1
    size = -(-(len(samples) + length) // 4000) * 4000
    return np.fft.irfft(np.fft.rfft(samples, size) * np.fft.rfft(echo, size), size)[: len(samples)]


def limit_band(samples, rng):
    """Returns the samples as a telephone roughly transmits them: without frequencies below 50 to 400 Hz and above 2.8 to 6 kHz."""
    low, high = rng.uniform(50, 400), rng.uniform(2800, 6000)
    return filter_spectrum(samples, lambda f: 1 / (1 + (low / np.maximum(f, 1)) ** 6) / (1 + (f / high) ** 12))


def random_voice(rng, held_out=None):
    """Returns a voice for training, or one with a held-out "variant" or "accent"."""
    accent = HELD_OUT_ACCENT if held_out == "accent" else rng.choice(ACCENTS)
    return accent + "+" + rng.choice(HELD_OUT_VARIANTS if held_out == "variant" else VARIANTS)


def random_utterance(espeak, rng, held_out=None, rooms=True):
    """Returns {text, voice, samples, phonemes} of a random utterance of at most 5.5 s, with random rate and pitch."""
    while True:
        text, voice = random_text(rng), random_voice(rng, held_out)
        samples, phonemes = espeak.say(text, voice, rate=rng.randint(115, 230), pitch=rng.randint(25, 80), range=rng.randint(20, 80),
                                       word_gap=rng.choice([0, 0, 0, 1, 2]))
        if 0.1 * SAMPLE_RATE < len(samples) <= 5.5 * SAMPLE_RATE:
            break
    noise = np.random.default_rng(rng.getrandbits(32))
    if rooms and rng.random() < 0.3:
        samples = add_room(samples, noise)
    if rooms and rng.random() < 0.2:
        samples = limit_band(samples, noise)
    return {"text": text, "voice": voice, "samples": samples * (0.5 / np.abs(samples).max()), "phonemes": phonemes}


def word_starts(phonemes):
    """Returns {offset of a word in the text: start of the word in seconds}."""
    starts = {}
    for name, offset, start in phonemes:
        if not name.startswith("_"):  # names of pauses begin with "_"
            starts.setdefault(offset, start)
    return starts


def random_noise(rng, count):
    """Returns noise of level 1 (root mean square), from white to brown; sometimes limited to a band, sometimes with mains hum."""
    tilt = rng.uniform(0, 2)
    low, high = (rng.uniform(100, 1500), rng.uniform(2000, 7000)) if rng.random() < 0.3 else (20, 8000)
    noise = filter_spectrum(rng.standard_normal(count), lambda f: (f / 100 + 0.2) ** -tilt * ((f >= low) & (f <= high)))
    noise /= np.sqrt((noise**2).mean())
    if rng.random() < 0.2:
        seconds = np.arange(count) / SAMPLE_RATE
        pitch = rng.choice([50, 60, 100, 120])
        hum = sum(np.sin(2 * np.pi * pitch * k * seconds + rng.uniform(0, 6)) / k for k in range(1, 8))
        noise = (noise + rng.uniform(0.3, 2) * hum) / 2
    return noise


def not_speech(rng, count):
    """Returns silence, noise, beeps or clicks, of any level."""
    kind = rng.random()
    if kind < 0.25:
        return np.zeros(count)
    sound = random_noise(rng, count)
    if kind < 0.45:
        seconds = np.arange(count) / SAMPLE_RATE
        for _ in range(rng.integers(1, 4)):
            begin, length = rng.uniform(0, WINDOW_SECONDS), rng.uniform(0.02, 1)
            beep = np.sin(2 * np.pi * rng.uniform(100, 3000) * seconds) * ((seconds >= begin) & (seconds < begin + length))
            sound = 0.1 * sound + rng.uniform(0.2, 3) * beep
    elif kind < 0.55:
        sound = 0.1 * sound + 3 * (rng.random(count) < 3 / SAMPLE_RATE) * rng.standard_normal(count)
    return sound * 10 ** rng.uniform(-4.5, -1)


def write_wave(path, samples):
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, SAMPLE_RATE, 0, "NONE", ""))
        file.writeframes(np.clip(np.round(samples * 32767), -32768, 32767).astype("<i2").tobytes())
