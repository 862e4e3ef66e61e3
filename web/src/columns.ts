// Columns of numbers with a JSON head, as src/page/page_columns.c packs them: the size of the
// head (32 bits, little endian), the head, and from the next multiple of 8 bytes the columns.

import type { ColumnHead } from './results';

const kinds = { f64: Float64Array, u32: Uint32Array, u8: Uint8Array };

type Numbers = Float64Array | Uint32Array | Uint8Array;

// LEB128; numbers are below 2^53.
function readVarints(bytes: Uint8Array, numbers: Numbers): void {
	let at = 0;

	for (let i = 0; i < numbers.length; i++) {
		let byte = bytes[at++]!;
		let number = byte & 127;

		for (let scale = 128; byte >= 128; scale *= 128) {
			byte = bytes[at++]!;
			number += (byte & 127) * scale;
		}
		numbers[i] = number;
	}
	if (at !== bytes.length)
		throw new Error('The data of this page is damaged.');
}

function readPlanes(bytes: Uint8Array, planes: number, numbers: Numbers): void {
	if (bytes.length !== planes * numbers.length)
		throw new Error('The data of this page is damaged.');
	let at = 0;

	for (let plane = 0, scale = 1; plane < planes; plane++, scale *= 256)
		for (let i = 0; i < numbers.length; i++)
			numbers[i]! += bytes[at++]! * scale;
}

function addPredictions(differences: Float64Array, steps: Numbers[], numbers: Numbers): void {
	let predicted = 0;

	for (let i = 0; i < numbers.length; i++) {
		const half = Math.floor(differences[i]! / 2);
		const number = predicted + (differences[i] === 2 * half ? half : -half - 1);

		numbers[i] = number;
		predicted = number;
		for (const step of steps)
			predicted += step[i]!;
	}
}

export class Columns<Head> {
	readonly head: Head;
	private places: Map<string, ColumnHead>;
	private start: number;
	private decoded = new Map<string, Numbers>();

	// `shared`: what the blocks of a file have in common (src/page/page_stacks.h), fields and columns that a block itself lacks.
	constructor(private bytes: ArrayBuffer, private shared: Columns<object> | null = null) {
		const size = new DataView(bytes).getUint32(0, true);
		const head = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, size))) as Head & { columns: ColumnHead[] };

		this.head = { ...shared?.head, ...head };
		this.start = Math.ceil((4 + size) / 8) * 8;
		this.places = new Map(head.columns.map((column) => [column.name, column]));
	}

	private decode({ type, offset, count, coded_bytes: size, planes, steps }: ColumnHead): Numbers {
		const coded = new Uint8Array(this.bytes, this.start + offset, size);
		const numbers = new kinds[type](count);
		const read = (into: Numbers) => (planes ? readPlanes(coded, planes, into) : readVarints(coded, into));

		if (!steps) {
			read(numbers);
			return numbers;
		}
		const differences = new Float64Array(count);

		read(differences);
		addPredictions(differences, steps.map((step) => this.get(step)), numbers);
		return numbers;
	}

	private get(name: string, type?: keyof typeof kinds): Numbers {
		const place = this.places.get(name);

		if (!place && this.shared)
			return this.shared.get(name, type);
		if (!place || (type && place.type !== type))
			throw new Error(`The data has no column "${name}".`);
		if (place.coded_bytes === undefined)
			return new kinds[place.type](this.bytes, this.start + place.offset, place.count);
		if (!this.decoded.has(name))
			this.decoded.set(name, this.decode(place));
		return this.decoded.get(name)!;
	}

	// Lets go of what was decoded, which stays with its users.
	forget(): void {
		this.decoded.clear();
	}

	has(name: string): boolean {
		return this.places.has(name) || !!this.shared?.has(name);
	}

	f64(name: string): Float64Array {
		return this.get(name, 'f64') as Float64Array;
	}

	u32(name: string): Uint32Array {
		return this.get(name, 'u32') as Uint32Array;
	}

	u8(name: string): Uint8Array {
		return this.get(name, 'u8') as Uint8Array;
	}
}
