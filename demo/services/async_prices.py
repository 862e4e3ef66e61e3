"""A server with one event loop; some answers need a price, which is fetched by a call that blocks: async_prices.py PORT"""
import asyncio
import sys
import time

turn = 0


def fetch_price():
    time.sleep(0.03)


async def answer(reader, writer):
    global turn
    while await reader.read(64):
        turn += 1
        if turn % 20 == 0:
            fetch_price()
        writer.write(b'pong')
        await writer.drain()


async def main():
    server = await asyncio.start_server(answer, '127.0.0.1', int(sys.argv[1]))
    await server.serve_forever()


asyncio.run(main())
