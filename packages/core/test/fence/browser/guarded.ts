import { createFenceStore, indexedDbFence, type Token } from '../../../src/fence/index.ts';

/** Runs in a page: writes something that only the leader may write; gives what came of it. */
export async function writeGuarded(token: Token): Promise<string> {
  const { cluster, epoch } = token;
  const opening = indexedDB.open(`guarded/${cluster}`, 1);
  opening.onupgradeneeded = () => {
    opening.result.createObjectStore('work');
    createFenceStore(opening.result);
  };
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
  try {
    const fence = indexedDbFence({ cluster, database, stores: ['work'] });
    await fence.admit(token, (transaction) => {
      transaction.objectStore('work').put(epoch, 'epoch');
    });
    return `admitted ${epoch}`;
  } catch (error) {
    return `${(error as { verdict?: string }).verdict} ${epoch}`;
  } finally {
    database.close();
  }
}
