"""`jsonrpc`: one message on a line, and nothing else. The format cannot tell who sent it."""

from formats.source import lines


def read(file, session):
    for place, message in lines(file):
        session.add(message, None, place)
