/* Dolev, Klawe and Rodeh's election on a one-way ring of seven, all of whom may start at any time, in Promela:
   the same rules and the same steps as habemus' process, for spin. A step is atomic there, so it is here. */
#define N 7
mtype = { first, second, elected };
chan link[N] = [N + 2] of { mtype, byte };   /* link[i] leads to process i */
byte leaders = 0;

proctype member(byte me; chan in, out) {
    xr in; xs out;
    byte id = me + 1, value = 0, left = 0, heard, leader = 0;
    bool asked = false, rival = false, awake = false;
end:do
    :: atomic { !asked ->
           asked = true;
           if :: !awake -> awake = true; rival = true; value = id; out!first(value)
              :: else fi }
    :: atomic { in?first(heard) ->
           if :: !awake -> awake = true; rival = true; value = id; out!first(value)
              :: else fi;
           if :: rival && value == heard ->
                    rival = false; leader = heard;
                    if :: leader == id -> leaders++; assert(leaders <= 1) :: else fi;
                    out!elected(heard)
              :: rival && value != heard && left == 0 -> left = heard; out!second(heard)
              :: !rival -> out!first(heard)
              :: else fi;
           heard = 0 }
    :: atomic { in?second(heard) ->
           if :: rival && left != 0 ->
                    if :: left > heard && left > value -> value = left; left = 0; out!first(value)
                       :: else -> rival = false; value = 0; left = 0 fi
              :: awake && !rival -> out!second(heard)
              :: else fi;
           heard = 0 }
    :: atomic { in?elected(heard) ->
           if :: leader == 0 ->
                    leader = heard;
                    if :: leader == id -> leaders++; assert(leaders <= 1) :: else fi;
                    out!elected(heard)
              :: else fi;
           heard = 0 }
    od
}

init { atomic { byte i = 0; do :: i < N -> run member(i, link[i], link[(i + 1) % N]); i++ :: else -> break od } }
