"""Connects as its arguments say, and prints what it saw as JSON: URL, Cookie, Origin ('' for none)."""
import asyncio
import json
import ssl
import sys

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

url, cookie, origin = sys.argv[1:]
anyone = ssl.create_default_context()
anyone.check_hostname = False
anyone.verify_mode = ssl.CERT_NONE


async def main():
    headers = {'Cookie': cookie} if cookie else {}
    options = {'ssl': anyone} if url.startswith('wss') else {}
    try:
        async with connect(url, additional_headers=headers, origin=origin or None, subprotocols=['chat'], **options) as socket:
            await socket.send('hi')
            text = await socket.recv()
            await socket.send(bytes(range(256)) * 1000)
            size = len(await socket.recv())
            await (await socket.ping())
            await socket.send('bye')
            try:
                await socket.recv()
            except ConnectionClosed as closed:
                print(json.dumps({'text': text, 'size': size, 'protocol': socket.subprotocol, 'code': closed.rcvd.code, 'reason': closed.rcvd.reason}))
    except InvalidStatus as refused:
        print(json.dumps({'status': refused.response.status_code, 'body': refused.response.body.decode()}))

asyncio.run(main())
