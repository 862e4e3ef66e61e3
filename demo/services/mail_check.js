// A server that checks addresses with an expression that tries all ways for some of them: mail_check.js PORT
const net = require('net');

function isMailAddress(text) {
	return /^([a-z0-9]+)+@([a-z0-9]+\.)+[a-z]+$/.test(text);
}

let turn = 0;
net.createServer((socket) => {
	socket.on('error', () => {});
	socket.on('data', () => {
		isMailAddress(++turn % 30 === 0 ? 'a'.repeat(22) + '!' : 'somebody@example.org');
		socket.write('pong');
	});
}).listen(Number(process.argv[2]), '127.0.0.1');
