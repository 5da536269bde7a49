import { join } from '@doyen/core';
import { tabs, webLock } from '@doyen/core/tabs';
import { BroadcastChannel, createLeaderElection } from 'broadcast-channel';
import { Tab } from 'tab-election';

/**
 * How each contender is used, as its documentation shows it and with its defaults. `led` is called
 * where the work of a leader would begin, `lost` where it would end, if there is such a place.
 */
export const contenders = {
  doyen: (name, told) => enter({ cluster: name, transport: tabs(), election: webLock() }, told),

  oldest: (name, told) => enter({ cluster: name, transport: tabs() }, told),

  /** Web Locks where there are any, as here. Tells nobody that a lead is lost. */
  'broadcast-channel'(name, { led }) {
    const channel = new BroadcastChannel(name);
    const elector = createLeaderElection(channel);
    elector.awaitLeadership().then(led);
    return elector;
  },

  'tab-election'(name, { led, lost }) {
    const tab = new Tab(name);
    tab.waitForLeadership(led).then(lost, lost);
    return tab;
  },

  locks(name, { led, lost }) {
    const forever = new Promise(() => undefined);
    const lead = () => {
      led();
      return forever;
    };
    navigator.locks.request(name, lead).catch(lost);
  },
};

async function enter(options, { led, lost }) {
  const node = await join(options);
  void node.leadership.lead(async ({ signal }) => {
    led();
    const ended = new Promise((resolve) => signal.addEventListener('abort', resolve));
    // Within the task of the event: before a freeze there is no other.
    signal.addEventListener('abort', lost);
    await ended;
  });
  return node;
}
