/** Something that happens at one instant of virtual time. */
export interface Task {
  readonly at: number;
  /** Ties are broken by the order of scheduling, so that the same run repeats exactly. */
  readonly order: number;
  run(): void;
  cancelled: boolean;
}

/** Virtual time: a queue of tasks, and a clock that jumps from one to the next. */
export class Scheduler {
  #now = 0;
  #count = 0;
  /** A binary heap: the earliest task first. */
  readonly #heap: Task[] = [];

  /** Milliseconds since the simulation began. */
  get now(): number {
    return this.#now;
  }

  /** How many tasks wait, cancelled ones included until their time has come. */
  get size(): number {
    return this.#heap.length;
  }

  schedule(at: number, run: () => void): Task {
    this.#count += 1;
    const task: Task = { at: Math.max(at, this.#now), order: this.#count, run, cancelled: false };
    this.#heap.push(task);
    this.#rise(this.#heap.length - 1);
    return task;
  }

  /** Takes the next task that is due by `until`, and moves the clock to it. */
  take(until: number): Task | null {
    for (let next = this.#heap[0]; next !== undefined && next.at <= until; next = this.#heap[0]) {
      this.#removeFirst();
      if (next.cancelled) continue;
      this.#now = next.at;
      return next;
    }
    return null;
  }

  /** Moves the clock on when nothing more is due by then. */
  advanceTo(at: number): void {
    this.#now = Math.max(this.#now, at);
  }

  #rise(index: number): void {
    const heap = this.#heap;
    let child = index;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!isBefore(heap, child, parent)) return;
      swap(heap, child, parent);
      child = parent;
    }
  }

  #removeFirst(): void {
    const heap = this.#heap;
    swap(heap, 0, heap.length - 1);
    heap.pop();
    let parent = 0;
    for (;;) {
      let least = parent;
      for (const child of [2 * parent + 1, 2 * parent + 2]) {
        if (child < heap.length && isBefore(heap, child, least)) least = child;
      }
      if (least === parent) return;
      swap(heap, parent, least);
      parent = least;
    }
  }
}

function isBefore(heap: Task[], one: number, two: number): boolean {
  const [a, b] = [heap[one] as Task, heap[two] as Task];
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function swap(heap: Task[], one: number, two: number): void {
  const task = heap[one] as Task;
  heap[one] = heap[two] as Task;
  heap[two] = task;
}
