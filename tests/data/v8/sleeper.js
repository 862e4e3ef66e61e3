/* Sleeps in functions of all kinds, for images of its memory: see README. */
const cell = new Int32Array(new SharedArrayBuffer(4));

function sleep() {
	Atomics.wait(cell, 0, 0, 60000);
}

class Account {
	balance() {
		sleep();
	}
	static open() {
		return new Account().balance();
	}
}

const größe_数 = () => Account.open();

exports.inferred = function () {
	return größe_数();
};

/* More variables for its closures than a scope has inside. */
const many = eval(`(function many() {
	${Array.from({ length: 90 }, (_, i) => `let v${i} = ${i};`).join('\n')}
	const all = () => [${Array.from({ length: 90 }, (_, i) => `v${i}`)}];
	exports.inferred();
	return all;
})
//# sourceURL=/tmp/many.js`);

function* steps() {
	yield many();
}

async function later() {
	await null;
	return [0].map(function () {
		return [...steps()];
	});
}

console.log(process.pid);
later();
