import type { TileRecord } from '../coordinator/checkpoint.ts';
import { type Picture, tileArea } from '../coordinator/picture.ts';
import { colourOf, colourOfEpoch } from '../name.ts';
import { colourise } from '../palette.ts';

export type Tint = 'member' | 'epoch' | 'none';

/** The picture as far as it is done, and over it the outlines of who computed which tile. */
export class MandelbrotCanvas {
  readonly #canvas: HTMLCanvasElement;
  readonly #outlines: HTMLCanvasElement;
  #picture: Picture | null = null;

  constructor(canvas: HTMLCanvasElement, outlines: HTMLCanvasElement) {
    this.#canvas = canvas;
    this.#outlines = outlines;
  }

  begin(picture: Picture): void {
    this.#picture = picture;
    for (const canvas of [this.#canvas, this.#outlines]) {
      canvas.width = picture.width;
      canvas.height = picture.height;
    }
  }

  paint(record: TileRecord, pixels: Uint8Array): void {
    if (!this.#picture) return;
    const area = tileArea(this.#picture, record.id);
    const image = new ImageData(colourise(pixels), area.width, area.height);
    this.#canvas.getContext('2d')?.putImageData(image, area.x, area.y);
  }

  outline(tiles: readonly TileRecord[], inFlight: ReadonlyMap<number, string>, tint: Tint): void {
    const context = this.#outlines.getContext('2d');
    if (!context || !this.#picture) return;
    context.clearRect(0, 0, this.#outlines.width, this.#outlines.height);
    if (tint !== 'none') {
      for (const { id, by, epoch } of tiles) {
        this.#stroke(context, id, tint === 'member' ? colourOf(by) : colourOfEpoch(epoch));
      }
    }
    for (const [tile, member] of inFlight) this.#fill(context, tile, colourOf(member));
  }

  #stroke(context: CanvasRenderingContext2D, tile: number, colour: string): void {
    if (!this.#picture) return;
    const { x, y, width, height } = tileArea(this.#picture, tile);
    context.strokeStyle = colour;
    context.lineWidth = Math.max(1, this.#picture.tileSize / 40);
    const inset = context.lineWidth / 2 + 0.5;
    context.strokeRect(x + inset, y + inset, width - 2 * inset, height - 2 * inset);
  }

  #fill(context: CanvasRenderingContext2D, tile: number, colour: string): void {
    if (!this.#picture) return;
    const { x, y, width, height } = tileArea(this.#picture, tile);
    context.globalAlpha = 0.4;
    context.fillStyle = colour;
    context.fillRect(x, y, width, height);
    context.globalAlpha = 1;
    this.#stroke(context, tile, colour);
  }
}
