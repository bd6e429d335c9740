"""Log-mel frames by transformers' WhisperFeatureExtractor: in float64 up to the logarithm, and normalised in torch."""

import torch
from transformers import WhisperFeatureExtractor
from transformers.audio_utils import spectrogram, window_function

from maker.layers.case import Case, random


def cases():
    seconds = torch.arange(4123, dtype=torch.float64) / 16000
    tones = sum(torch.sin(2 * torch.pi * hertz * seconds) / (i + 1) for i, hertz in enumerate((220, 1500, 6400)))
    # Loud, then silence, then noise.
    loudness = (seconds < 0.1) + 0.003 * (seconds > 0.2)
    samples = ((tones / 4 + 0.1 * random("log_mel/noise", 4123)) * loudness).float()
    for bands in (80, 128):
        extractor = WhisperFeatureExtractor(feature_size=bands)
        log_mel = spectrogram(
            samples.double().numpy(), window_function(400, "hann"), frame_length=400, hop_length=160, power=2.0,
            mel_filters=extractor.mel_filters, log_mel="log10",
        )  # fmt: skip
        features = extractor._torch_extract_fbank_features(samples[None].numpy())[0]
        outputs = {"log_mel": torch.tensor(log_mel[:, :-1].T), "features": torch.tensor(features.T).double()}
        yield Case(f"bands_{bands}", {"samples": samples.double()}, outputs)
