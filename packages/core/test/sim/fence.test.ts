import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SimFence } from '../../src/testing/sim-fence.ts';

describe('SimFence', () => {
  it('X1: admits the newest holder, and says why it refuses others', () => {
    const fence = new SimFence('sim', (use) => ({ at: 0, ...use }));
    const token = (epoch: number, holder: string, cluster = 'sim') => ({ cluster, epoch, holder });
    expect(fence.admit(token(2, 'x'))).toBe('admitted');
    expect(fence.admit(token(2, 'x'))).toBe('admitted');
    expect(fence.admit(token(2, 'y'))).toBe('conflict');
    expect(fence.admit(token(1, 'x'))).toBe('stale');
    expect(fence.admit(token(9, 'x', 'other'))).toBe('foreign');
    expect(fence.admit(token(3, 'y'))).toBe('admitted');
    expect(fence.high()).toBe(3);
    expect(fence.log.map(({ verdict }) => verdict).join(' ')).toBe(
      'admitted admitted conflict stale foreign admitted',
    );
  });

  it('X1: whatever comes, its mark never falls', () => {
    const uses = fc.array(fc.tuple(fc.nat(5), fc.constantFrom('x', 'y')));
    fc.assert(
      fc.property(uses, (tokens) => {
        const fence = new SimFence('sim', (use) => ({ at: 0, ...use }));
        let high = 0;
        for (const [epoch, holder] of tokens) {
          fence.admit({ cluster: 'sim', epoch, holder });
          expect(fence.high()).toBeGreaterThanOrEqual(high);
          high = fence.high();
        }
      }),
    );
  });
});
