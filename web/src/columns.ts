// Columns of numbers with a JSON head, as src/page/page_columns.c packs them: the size of the
// head (32 bits, little endian), the head, and from the next multiple of 8 bytes the columns.

const kinds = { f64: Float64Array, u32: Uint32Array, u8: Uint8Array };

interface ColumnHead {
	name: string;
	type: keyof typeof kinds;
	offset: number;
	count: number;
}

export class Columns<Head> {
	readonly head: Head;
	private places: Map<string, ColumnHead>;
	private start: number;

	constructor(private bytes: ArrayBuffer) {
		const size = new DataView(bytes).getUint32(0, true);
		const head = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, size))) as Head & { columns: ColumnHead[] };

		this.head = head;
		this.start = Math.ceil((4 + size) / 8) * 8;
		this.places = new Map(head.columns.map((column) => [column.name, column]));
	}

	private get(name: string, type: keyof typeof kinds) {
		const place = this.places.get(name);

		if (!place || place.type !== type)
			throw new Error(`The data has no column "${name}".`);
		return new kinds[type](this.bytes, this.start + place.offset, place.count);
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
