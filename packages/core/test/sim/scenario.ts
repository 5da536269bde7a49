import { perform, views } from '../../src/testing/script.ts';
import { type Simulation, simulate } from '../../src/testing/simulate.ts';

/**
 * Plays a scenario, and gives its text with what really happened.
 *
 * A scenario is a story: comment lines that begin with `#`, the first of which is its title, and
 * blocks with a blank line between them. A block is commands, a line `----`, and what they made
 * happen. The first command is `start`, with the nodes (`n1@200`: its `startedAt`), and `seed=` and
 * `latency=` where they matter; `show` prints what each node believes; the others are those of
 * `perform`.
 */
export async function playScenario(text: string): Promise<string> {
  const [header = '', ...blocks] = text.trim().split(/\n\n+/);
  const player = new Player();
  const played = [header];
  for (const block of blocks) played.push(await player.play(block));
  return `${played.join('\n\n')}\n`;
}

class Player {
  #sim: Simulation | null = null;
  #seenCount = 1;

  async play(block: string): Promise<string> {
    if (block.startsWith('#')) return block;
    const [commands = ''] = block.split(/^----$/m);
    const shown: string[] = [];
    for (const command of commands.trim().split('\n')) {
      if (command === 'show') shown.push(...this.#news(), ...views(this.#cluster()));
      else if (command.startsWith('start ')) this.#sim = start(command);
      else await perform(this.#cluster(), command);
    }
    return [commands.trim(), '----', ...shown, ...this.#news()].join('\n');
  }

  /** What happened to nodes since it was asked last. */
  #news(): string[] {
    const lines = this.#cluster().trace().trimEnd().split('\n');
    const news = lines.slice(this.#seenCount);
    this.#seenCount = lines.length;
    return news.filter((line) => !/^ *[\d.]+ {2}sim {2}/.test(line));
  }

  #cluster(): Simulation {
    if (this.#sim === null) throw new TypeError('the first command of a scenario must be start');
    return this.#sim;
  }
}

/** Messages take 10 ms each, and nothing is random, so that times can be checked in the head. */
function start(command: string): Simulation {
  const words = command.split(' ').slice(1);
  const values = new Map(words.map((word) => word.split('=')).map(([a = '', b = '']) => [a, b]));
  const [low = 10, high = 10] = (values.get('latency') ?? '10-10').split('-').map(Number);
  const nodes = words.filter((word) => !word.includes('=')).map(nodeOf);
  const seed = Number(values.get('seed') ?? 1);
  return simulate({ seed, nodes, latencyMs: [low, high], jitter: false });
}

function nodeOf(word: string): { id: string; startedAt?: number } {
  const [id = '', startedAt] = word.split('@');
  return startedAt === undefined ? { id } : { id, startedAt: Number(startedAt) };
}
