// A server whose handler hashes a password synchronously, so that everybody else waits: blocking.js PORT
const crypto = require('crypto');
const net = require('net');

function hashPasswordSync() {
	return crypto.pbkdf2Sync('secret', 'salt', 60000, 32, 'sha256');
}

let turn = 0;
net.createServer((socket) => {
	socket.on('error', () => {});
	socket.on('data', () => {
		if (++turn % 50 === 0)
			hashPasswordSync();
		socket.write('pong');
	});
}).listen(Number(process.argv[2]), '127.0.0.1');
