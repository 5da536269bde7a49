import { expect, it } from 'vitest';
import { member } from './scripted-machine.ts';
import { stage } from './stage.ts';

it('E8: the signals of a term abort before anything else of the same drain is told', async () => {
  const { input, leadership, log, driver } = stage();
  for (const name of ['first', 'second']) {
    void leadership.lead(({ signal }) => {
      signal.addEventListener('abort', () => {
        log.push(`abort ${name}`);
        // Calling back must not let the events through before the other signal has aborted.
        driver.input((machine) => machine.setCandidacy(true, 0));
      });
      return new Promise(() => undefined);
    });
  }
  input((script) => script.startTerm(1));
  log.length = 0;
  input((script) => {
    script.emit({ type: 'memberleave', member: member('other'), reason: 'leave' });
    script.send('vacated');
    script.endTerm('stalled');
  });
  expect(log.filter((line) => line.startsWith('abort'))).toEqual(['abort first', 'abort second']);
  expect(log.filter((line) => line.startsWith('event'))).toEqual([
    'event memberleave',
    'event termend',
    'event change',
  ]);
  expect(log.indexOf('abort second')).toBeLessThan(log.indexOf('event memberleave'));
});

it('E8: at the abort isSelf and isValid() are false already', () => {
  const { input, leadership } = stage();
  const seen: boolean[] = [];
  void leadership.lead((term) => {
    expect([leadership.isSelf, term.isValid()]).toEqual([true, true]);
    term.signal.addEventListener('abort', () => seen.push(leadership.isSelf, term.isValid()));
  });
  input((script) => script.startTerm(1));
  input((script) => script.endTerm('frozen'));
  expect(seen).toEqual([false, false]);
});

it('an event that a listener causes is told after those that were there before', () => {
  const { input, leadership, log } = stage();
  leadership.addEventListener('change', ({ leader }) => {
    if (leader) input((script) => script.endTerm('resigned'));
  });
  input((script) => {
    script.startTerm(1);
    script.emit({ type: 'memberjoin', member: member('other') });
  });
  expect(log).toEqual([
    'event termstart',
    'event change',
    'event memberjoin',
    'event termend',
    'event change',
  ]);
});

it('what a transport reports inside send() does not overtake what is still to be sent', () => {
  const scene = stage();
  scene.onSend = () => {
    scene.onSend = () => undefined;
    scene.input((script) => script.send('third'));
  };
  scene.input((script) => {
    script.send('first');
    script.send('second');
  });
  expect(scene.log).toEqual(['send first', 'send second', 'send third']);
});

it('the deadline is kept with one timer, and moving it away costs none', async () => {
  const { host, input, script } = stage();
  input((s) => {
    s.deadline = 100;
  });
  input((s) => {
    s.deadline = 300;
  });
  expect(host.timerCount).toBe(1);
  await host.pass(299);
  expect(script.inputs).toEqual([]);
  script.reactions['advance'] = () => {
    script.deadline = 1000;
  };
  await host.pass(1);
  expect(script.inputs).toEqual([['advance', 300]]);
  input((s) => {
    s.deadline = 400;
  });
  expect(host.timerCount).toBe(1);
  await host.pass(100);
  expect(script.inputs).toHaveLength(2);
});

it('B2: while frozen no timer fires; input waits, and follows the news of the resume', async () => {
  const { driver, host, input, script } = stage();
  input((s) => {
    s.deadline = 100;
  });
  driver.lifecycle('freeze');
  driver.lifecycle('freeze');
  driver.arrive((machine, now) => machine.linkUp('p1', now));
  await host.pass(500);
  expect(script.inputs).toEqual([['lifecycle', 'freeze']]);
  driver.lifecycle('resume');
  expect(script.inputs.slice(1)).toEqual([
    ['lifecycle', 'resume'],
    ['linkUp', 'p1'],
  ]);
  script.deadline = Number.POSITIVE_INFINITY;
  await host.pass(0);
  expect(host.timerCount).toBe(0);
});

it('M11: what is held while frozen is bounded, and the loss is told once', () => {
  const { driver, log, script } = stage();
  driver.lifecycle('freeze');
  for (let count = 0; count < 2000; count += 1) {
    driver.arrive((machine, now) => machine.linkUp(`p${count}`, now), 10_000);
  }
  expect(log).toEqual(['fault frozen-overflow']);
  driver.lifecycle('resume');
  const held = script.inputs.filter(([name]) => name === 'linkUp');
  expect(held.length).toBeGreaterThan(100);
  expect(held.length * 10_000).toBeLessThanOrEqual(4 * 1024 * 1024);
});

it('a stopped driver does nothing more', async () => {
  const { driver, host, input, log, script } = stage();
  input((s) => {
    s.deadline = 100;
  });
  driver.stop();
  input((s) => s.send('late'));
  await host.pass(1000);
  expect([log, script.inputs, host.timerCount]).toEqual([[], [], 0]);
});
