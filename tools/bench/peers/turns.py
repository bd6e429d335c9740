"""The order in which engines are measured."""


def in_turns(engines, rounds):
    """All engines once a round, the first of a round another one each time."""
    for number in range(rounds):
        first = number % len(engines)
        for engine in engines[first:] + engines[:first]:
            yield engine
