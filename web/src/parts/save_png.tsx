// A button that saves a chart as it is seen.
import type { RefObject } from 'preact';

import { savePng } from './save_picture';

export function SavePng({ canvas, name }: { canvas: RefObject<HTMLCanvasElement | null>; name: string }) {
	return <button type="button" class="save" title="Save the chart as a picture (PNG)" onClick={() => canvas.current && savePng(canvas.current, `${name}.png`)}>PNG</button>;
}
