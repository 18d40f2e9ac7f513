"""
Uploads a file chunked, in pieces of given sizes, once to each path, and gets /next behind each, on one session.

   upload.py requests|httpx|aiohttp FILE SIZES ORIGIN PATH...

Prints a line per request: the body of the response, its status, the path. No client has a timeout.
"""

import asyncio
import itertools
import sys

client, file, sizes, origin, *paths = sys.argv[1:]
headers = {'Content-Type': 'text/plain'}

with open(file, 'rb') as opened:
    data = opened.read()


def pieces():
    at = 0
    for size in itertools.cycle(map(int, sizes.split(','))):
        if at >= len(data):
            return
        yield data[at:at + size]
        at += size


async def async_pieces():
    for piece in pieces():
        yield piece


def report(path, text, status):
    print(text, status, path, flush=True)


def run(session):
    def send(path, method, **options):
        try:
            response = session.request(method, origin + path, timeout=None, **options)
            report(path, response.text, response.status_code)
        except Exception as err:
            report(path, repr(err), 'failed')

    for path in paths:
        send(path, 'POST', headers=headers, **{'data' if client == 'requests' else 'content': pieces()})
        send('/next', 'GET')


async def run_aiohttp():
    import aiohttp

    async def send(path, method, **options):
        try:
            async with session.request(method, origin + path, **options) as response:
                report(path, await response.text(), response.status)
        except Exception as err:
            report(path, repr(err), 'failed')

    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None, sock_connect=None)) as session:
        for path in paths:
            await send(path, 'POST', headers=headers, data=async_pieces())
            await send('/next', 'GET')


if client == 'aiohttp':
    asyncio.run(run_aiohttp())
elif client == 'requests':
    import requests
    with requests.Session() as session:
        run(session)
else:
    import httpx
    with httpx.Client() as session:
        run(session)
