// Pictures as files: what a canvas shows as PNG, a tree of calls as SVG.
import { palette } from '../colours';

function download(blob: Blob, name: string): void {
	const anchor = document.createElement('a');

	anchor.href = URL.createObjectURL(blob);
	anchor.download = name;
	anchor.click();
	setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
}

// A canvas on the page's background; `labels` are elements beside it whose text is drawn where they are.
export function savePng(canvas: HTMLCanvasElement, name: string, labels: Iterable<HTMLElement> = []): void {
	const copy = document.createElement('canvas');
	const context = copy.getContext('2d')!;
	const ratio = canvas.width / canvas.clientWidth;
	const { left, top } = canvas.getBoundingClientRect();

	copy.width = canvas.width;
	copy.height = canvas.height;
	context.fillStyle = palette.value.background;
	context.fillRect(0, 0, copy.width, copy.height);
	context.drawImage(canvas, 0, 0);
	context.scale(ratio, ratio);
	context.fillStyle = palette.value.text;
	context.font = '12px system-ui, sans-serif';
	context.textBaseline = 'middle';
	for (const label of labels) {
		const box = label.getBoundingClientRect();

		context.fillText(label.querySelector('.name, button')?.textContent ?? '', box.left - left + 4, box.top - top + box.height / 2, box.width);
	}
	copy.toBlob((blob) => blob && download(blob, name));
}

export interface SvgBox {
	x: number;
	y: number;
	width: number;
	height: number;
	fill: string;
	text: string; // what fits into it
	textFill: string;
	title: string; // all of it
}

const escaped = (text: string) => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '').replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

export function svgOf(boxes: SvgBox[], width: number, height: number): string {
	const body = boxes.map(({ x, y, width: w, height: h, fill, text, textFill, title }) =>
		`<g><title>${escaped(title)}</title><rect x="${x.toFixed(2)}" y="${y}" width="${Math.max(w, 0.1).toFixed(2)}" height="${h}" fill="${fill}"/>${text ? `<text x="${(x + 4).toFixed(2)}" y="${y + h / 2}" fill="${textFill}">${escaped(text)}</text>` : ''}</g>`);

	return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, monospace" font-size="12" dominant-baseline="central"><rect width="100%" height="100%" fill="${palette.value.background}"/>${body.join('')}</svg>`;
}

export function saveText(text: string, name: string, type: string): void {
	download(new Blob([text], { type }), name);
}

export function saveSvg(text: string, name: string): void {
	saveText(text, name, 'image/svg+xml');
}
