"""The order in which engines are measured."""


def in_turns(engines, rounds):
    """Yields every engine once in each round. Each round begins with the next engine."""
    for number in range(rounds):
        first = number % len(engines)
        for engine in engines[first:] + engines[:first]:
            yield engine
