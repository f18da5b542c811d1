import pytest

from simrt.dialect import Formats, dialect, dialect_for_url
from simrt.errors import SimrtError


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("wss://api.openai.com/v1/realtime?model=m", "realtime"),
        ("ws://127.0.0.1:8000/openai/v1/realtime/", "realtime"),
        ("/v1/realtime", "realtime"),
        ("/v1/realtime#part", "realtime"),
        ("wss://h/v1/realtime/translations", "generic"),
        ("wss://h/v1/live/sessions", "live"),
        ("wss://h/unrealtime", "generic"),
        ("wss://h/?next=/realtime", "generic"),
        ("", "generic"),
    ],
)
def test_which_dialect_a_url_speaks(url: str, name: str) -> None:
    assert dialect_for_url(url) == name
    assert dialect(name).name == name


def test_an_unknown_dialect_is_told_with_those_there_are() -> None:
    with pytest.raises(SimrtError, match="no dialect is called 'klingon'; there are: realtime, live, generic"):
        dialect("klingon")


def test_the_generic_dialect_knows_nothing() -> None:
    generic = dialect("generic")
    formats = Formats()
    event = {
        "type": "session.created",
        "delta": "AAAA",
        "client_secret": "s",
        "session": {"input_audio_format": "g711_ulaw"},
    }
    assert generic.audio_key("server", event) is None
    assert generic.secrets(event) == []
    generic.update_formats(formats, "server", event)
    assert formats == Formats()
