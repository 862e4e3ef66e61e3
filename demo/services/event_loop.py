"""A server with an event loop, which one kind of request blocks: event_loop.py PORT"""
import asyncio
import hashlib
import sys


def hash_password(password):
    return hashlib.pbkdf2_hmac('sha256', password, b'salt', 60000)


async def answer(reader, writer):
    count = 0
    while await reader.read(64):
        count += 1
        if count % 8 == 0:
            hash_password(b'secret')
        writer.write(b'pong')
        await writer.drain()
    writer.close()


async def main():
    server = await asyncio.start_server(answer, '127.0.0.1', int(sys.argv[1]))
    async with server:
        await server.serve_forever()


asyncio.run(main())
