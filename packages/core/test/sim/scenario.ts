import { views } from '../../src/testing/script.ts';
import { Story } from '../../src/testing/story.ts';

/**
 * Plays a scenario, and gives its text with what really happened.
 *
 * A scenario is a story: comment lines that begin with `#`, the first of which is its title, and
 * blocks with a blank line between them. A block is commands, a line `----`, and what they made
 * happen. `forget` leaves out what has happened so far; `show` prints what each node believes; the other commands are those of a `Story`, the
 * first being `start`. Messages take 10 ms each, and nothing is random unless it says so, so that
 * times can be checked in the head.
 */
export async function playScenario(text: string): Promise<string> {
  const [header = '', ...blocks] = text.trim().split(/\n\n+/);
  const player = new Player();
  const played = [header];
  for (const block of blocks) played.push(await player.play(block));
  return `${played.join('\n\n')}\n`;
}

class Player {
  #story: Story | null = null;
  #seenCount = 1;

  async play(block: string): Promise<string> {
    if (block.startsWith('#')) return block;
    const [commands = ''] = block.split(/^----$/m);
    const shown: string[] = [];
    for (const command of commands.trim().split('\n')) {
      if (this.#story === null) this.#story = new Story(command);
      else if (command === 'show') shown.push(...this.#news(), ...views(this.#story.sim));
      else if (command === 'forget') this.#news();
      else await this.#story.tell(command);
    }
    return [commands.trim(), '----', ...shown, ...this.#news()].join('\n');
  }

  /** What happened to nodes since it was asked last. */
  #news(): string[] {
    const lines = this.#story?.sim.trace().trimEnd().split('\n') ?? [];
    const news = lines.slice(this.#seenCount);
    this.#seenCount = lines.length;
    return news.filter((line) => !/^ *[\d.]+ {2}sim {2}/.test(line));
  }
}
