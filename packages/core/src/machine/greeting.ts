import { RECORDS_MAX } from './codec.ts';
import type { Kernel } from './kernel.ts';
import type { Link } from './links.ts';
import type { HelloMessage, RefuseMessage } from './message.ts';
import { compareText, type MemberRecord } from './record.ts';

/** The first exchange on a link: who is there, under which rules, and what each side knows. */
export class Greeting {
  readonly #kernel: Kernel;
  #reconciledSince = Number.NEGATIVE_INFINITY;
  #reconciled = 0;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  send(link: Link): void {
    const { outbox, options, roster, election } = this.#kernel;
    outbox.send(link.peer, {
      type: 'hello',
      fingerprint: options.fingerprint,
      known: link.instance !== null,
      self: roster.self.record,
      records: roster.sample(),
      claim: election.claim,
    });
  }

  receive(hello: HelloMessage, link: Link): void {
    const { links, roster, election, detector, options, outbox } = this.#kernel;
    const { self } = hello;
    if (self.instance === options.instance || (link.instance ?? self.instance) !== self.instance) {
      return outbox.violation(link.peer, 'M1', `hello of instance ${self.instance}`);
    }
    if (hello.fingerprint !== options.fingerprint) return this.#mismatch(hello, link);
    if (self.id === options.id) return this.#duplicate(self, link);
    const isFirst = link.instance === null;
    if (isFirst) links.bind(link, self.instance);
    link.known ||= hello.known;
    for (const record of [self, ...hello.records]) roster.seeBirth(record.birth);
    if (roster.beBorn()) roster.announceSelf();
    for (const record of [...hello.records, self]) roster.merge(record, link);
    detector.heard(self.instance);
    detector.linked(self.instance);
    if (!hello.known || isFirst) this.send(link);
    if (hello.claim) {
      const message = { type: 'claim', claim: hello.claim, leader: null, probe: null } as const;
      election.receive(message, self.instance, link);
    }
  }

  /**
   * Believed only where it can be true: a duplicate has heard of its double, and who is under other
   * rules has not been admitted by this side either.
   */
  refused({ code }: RefuseMessage, link: Link): void {
    const isPossible = code === 'duplicate-id' ? this.#kernel.roster.hasDouble : !link.instance;
    if (!isPossible) return this.#kernel.outbox.violation(link.peer, 'M1', `refused: ${code}`);
    link.refused = true;
    this.#kernel.fail(code, REFUSALS[code]);
  }

  /**
   * Tells a peer with another roster what changed of late, and when that does not do, all of it; at
   * most once an interval.
   */
  reconcile(digest: number, link: Link): void {
    const { roster, now, options, outbox } = this.#kernel;
    if (digest === roster.digest >>> 0) {
      link.mismatches = 0;
      return;
    }
    const intervalMs = options.detection.heartbeatIntervalMs;
    if (now < link.recordsSentAt + intervalMs || !this.#mayReconcile(now, intervalMs)) return;
    link.recordsSentAt = now;
    link.mismatches++;
    const recent = link.mismatches === 1 ? roster.recent() : [];
    for (const records of chunks(recent.length > 0 ? recent : roster.records())) {
      outbox.send(link.peer, { type: 'records', records });
    }
  }

  /** A few peers an interval: whoever differs differs from many, and passes on what it learns. */
  #mayReconcile(now: number, intervalMs: number): boolean {
    if (now >= this.#reconciledSince + intervalMs) {
      this.#reconciledSince = now;
      this.#reconciled = 0;
    }
    return ++this.#reconciled <= RECONCILED_MAX;
  }

  /** Two rules in one cluster would depose each other for ever: the smaller side goes (E12). */
  #mismatch(hello: HelloMessage, link: Link): void {
    const { roster, options } = this.#kernel;
    const theirs = hello.records.filter(({ status }) => status === 'alive').length;
    const order =
      roster.size - Math.max(theirs, 1) || compareText(hello.self.instance, options.instance);
    const detail = `election "${hello.fingerprint}", here "${options.fingerprint}"`;
    if (order > 0) return this.#refuse(link, 'election-mismatch', 'E12', detail);
    this.#kernel.fail('election-mismatch', `the cluster uses ${detail}`);
  }

  /** The other end of this link lives under this node's id: the later born goes (M1). */
  #duplicate(other: MemberRecord, link: Link): void {
    const { record } = this.#kernel.roster.self;
    const order =
      (record.birth || Number.MAX_SAFE_INTEGER) - (other.birth || Number.MAX_SAFE_INTEGER) ||
      compareText(record.instance, other.instance);
    const detail = `id "${record.id}" is used by another living node`;
    if (order < 0) return this.#refuse(link, 'duplicate-id', 'M1', detail);
    this.#kernel.fail('duplicate-id', detail);
  }

  #refuse(link: Link, code: RefuseMessage['code'], rule: string, detail: string): void {
    this.#kernel.outbox.send(link.peer, { type: 'refuse', code });
    link.refused = true;
    this.#kernel.outbox.violation(link.peer, rule, detail);
  }
}

/** Peers that are told records in one interval because their rosters differ. */
const RECONCILED_MAX = 3;

const REFUSALS = {
  'duplicate-id': 'another living node uses this id',
  'election-mismatch': 'the cluster elects by another rule',
} as const;

function chunks(records: readonly MemberRecord[]): MemberRecord[][] {
  const parts: MemberRecord[][] = [];
  for (let i = 0; i < records.length; i += RECORDS_MAX) {
    parts.push(records.slice(i, i + RECORDS_MAX));
  }
  return parts;
}
