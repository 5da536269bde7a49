/** In mid-shift. */
const STEPS_BEFORE_CUT = 8;
/** How far the next manager has come when the late write arrives. */
const STEPS_BEFORE_LATE = 3;

/**
 * What happens, scene by scene. Each waits for what is reported, none for a time.
 *
 * @param {import('./stage.mjs').Stage} stage
 * @returns the last step of one manager, and how the next one began
 */
export async function play({ cast, workers, roads }) {
  const isMiddle = ({ type, step }) => type === 'step' && step === STEPS_BEFORE_CUT;
  const before = await cast.until('the middle of the job', isMiddle);
  const manager = before.by;
  const scene = {
    cast,
    manager,
    epoch: before.epoch,
    others: workers.filter((id) => id !== manager),
    road: roads.get(manager),
  };
  await cutOff(scene);
  const after = await takeOver(scene);
  await arriveLate(scene, before.step + 1);
  await heal(scene);
  await cast.until('the end of the job', ({ type }) => type === 'finished');
  return { before, after };
}

/** The manager's next write is on its way when its links die. */
async function cutOff({ cast, manager, others, road }) {
  road.holdUp(() => cast.note({ by: 'network', type: 'held', from: manager }));
  await cast.until(`a write of ${manager}`, ({ type }) => type === 'held');
  cast.order(manager, 'cut', others);
  cast.note({ by: 'network', type: 'cut', one: manager, others });
  const isLost = ({ by, type }) => by === manager && type === 'lost';
  await cast.until(`the end of ${manager}'s term`, isLost);
}

/** The others elect one of them, who goes on with the job. */
async function takeOver({ cast, epoch }) {
  const isNext = (report) => report.type === 'manages' && report.epoch > epoch;
  const after = await cast.until('the next manager', isNext);
  const goal = after.step + STEPS_BEFORE_LATE;
  const isThere = (report) =>
    report.type === 'step' && report.epoch > epoch && report.step === goal;
  await cast.until(`step ${goal} of the next manager`, isThere);
  return after;
}

/** The write of the first manager gets through; without a fence it is taken for a step. */
async function arriveLate({ cast, manager, road }, lateStep) {
  cast.note({ by: 'network', type: 'freed', from: manager });
  road.free();
  const isAnswer = ({ by, type, step }) =>
    by === manager && step === lateStep && (type === 'refused' || type === 'step');
  await cast.until('the answer to the late write', isAnswer);
}

/** The first manager finds the others again, and follows whom they have elected. */
async function heal({ cast, manager, others, epoch }) {
  cast.order(manager, 'heal', others);
  cast.note({ by: 'network', type: 'healed', one: manager, others });
  const isFollower = (report) =>
    report.by === manager && others.includes(report.leader) && report.epoch > epoch;
  await cast.until(`${manager} as a follower`, isFollower);
}
