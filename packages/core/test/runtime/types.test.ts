import { expectTypeOf, it } from 'vitest';
import type { DoyenError, DoyenNode, JoinOptions, Member, Transport } from '../../src/index.ts';

// Checked by the compiler: nothing here runs but the empty shells of the tests.

it('listeners know the event that they listen to', () => {
  const listen = (node: DoyenNode): void => {
    node.addEventListener('memberleave', (event) => {
      expectTypeOf(event.member).toEqualTypeOf<Member>();
      expectTypeOf(event.reason).toEqualTypeOf<'leave' | 'evicted' | 'replaced' | 'gone'>();
    });
    node.addEventListener('statechange', (event) => {
      expectTypeOf(event.error).toEqualTypeOf<DoyenError | undefined>();
    });
    node.leadership.addEventListener('change', (event) => {
      expectTypeOf(event.leader).toEqualTypeOf<Member | null>();
    });
    node.channel('work').addEventListener('message', (event) => {
      expectTypeOf(event.data).toExtend<Uint8Array>();
    });
    // @ts-expect-error No such event: a typing mistake is found by the compiler.
    node.addEventListener('memberjoined', () => undefined);
    node.addEventListener('memberjoin', { handleEvent: ({ member }) => member.id }, { once: true });
  };
  expectTypeOf(listen).toBeFunction();
});

it('join() asks for a cluster and a transport, and for nothing that it does not know', () => {
  const transport = {} as Transport;
  expectTypeOf({ cluster: 'c', transport }).toExtend<JoinOptions>();
  expectTypeOf({ cluster: 'c' }).not.toExtend<JoinOptions>();
  // @ts-expect-error There is no such option.
  const wrong: JoinOptions = { cluster: 'c', transport, heartbeat: 5 };
  expectTypeOf(wrong).toEqualTypeOf<JoinOptions>();
});

it('a node is an event target, and can be disposed of', () => {
  expectTypeOf<DoyenNode>().toExtend<EventTarget>();
  expectTypeOf<DoyenNode>().toExtend<AsyncDisposable>();
  const rename = (node: DoyenNode): void => {
    // @ts-expect-error What a node says of itself is read only.
    node.id = 'other';
  };
  expectTypeOf(rename).toBeFunction();
});

it('work may look at its term, and need not return a promise', () => {
  const lead = async (node: DoyenNode): Promise<void> => {
    await node.leadership.lead(() => undefined);
    await node.leadership.lead(async (term) => {
      expectTypeOf(term.token).toExtend<{ cluster: string; epoch: number; holder: string }>();
      await term.ensure(500);
    });
  };
  expectTypeOf(lead).toBeFunction();
});
